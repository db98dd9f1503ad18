/**
 * The labels of all exclusive resources, folded from the events, and whether grants match what was
 * asked for. It uses none of the core's indexes.
 */
import type { Item } from "../src/core/model/command.ts";
import type { DurableEvent, ResolvedAsk } from "../src/core/model/event.ts";
import { assertInvariant } from "./violation.ts";

type Labels = Readonly<Record<string, string>>;

export class SelectionLedger {
  readonly #labels = new Map<string, Labels>();

  record(event: DurableEvent): void {
    switch (event.type) {
      case "resource-added":
      case "resource-moved":
        this.#labels.set(event.resource, event.labels ?? {});
        return;
      case "resource-relabelled":
        this.#labels.set(event.resource, event.labels);
        return;
      case "resource-changed":
        if (event.labels !== undefined) this.#labels.set(event.resource, event.labels);
        return;
      case "resource-removed":
        this.#labels.delete(event.resource);
        return;
      default:
        return;
    }
  }

  isWanted(resource: string, { resource: name, selector = {} }: Item): boolean {
    if (name !== undefined && name !== resource) return false;
    const labels = this.#labels.get(resource) ?? {};
    return Object.entries(selector).every(([key, value]) => labels[key] === value);
  }

  /** Each item has resources of its own that match it. */
  checkGrant(id: string, { items }: ResolvedAsk, granted: readonly Granted[]): void {
    if (items.every(({ selector, resource }) => selector === undefined && resource === undefined)) {
      return;
    }
    const units = items.flatMap((item) => Array.from({ length: item.count }, () => item));
    const names = granted.map(({ resource }) => resource).join(" ");
    assertInvariant(
      this.#isShareable(units, granted),
      () => `${id} got ${names}, which does not match ${JSON.stringify(items)}`,
    );
  }

  /** Tries every way to give each unit one of the resources. Grants are small. */
  #isShareable(units: readonly Item[], granted: readonly Granted[]): boolean {
    const [unit, ...others] = units;
    if (unit === undefined) return granted.length === 0;
    return granted.some(({ resource, pool }, index) => {
      if (unit.pool !== pool && !unit.anyOf?.some((name) => name === pool)) return false;
      if (!this.isWanted(resource, unit)) return false;
      return this.#isShareable(others, granted.toSpliced(index, 1));
    });
  }
}

interface Granted {
  readonly resource: string;
  readonly pool: string;
}
