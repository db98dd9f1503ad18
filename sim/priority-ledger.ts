/**
 * A second ledger of priorities. It knows the priority of every waiting request from events alone, and
 * checks that each rise by waiting was due, and that none is missing.
 */
import type { DurableEvent, EventOf, ResolvedAsk } from "../src/core/model/event.ts";
import type { Ageing } from "../src/core/model/priority.ts";
import { assertInvariant } from "./violation.ts";

interface Waiting {
  priority: number;
  changedAt: number;
  readonly space: string | undefined;
}

/** The longest pause of a server, the slowest sync and the longest suspension together. */
const lateMsMax = 10 * 60_000;

export class PriorityLedger {
  readonly #waiting = new Map<string, Waiting>();
  #ageing: Ageing | null = null;
  /** When the rules of ageing or of spaces changed last. */
  #ruledAt = 0;
  #boundOf: (space: string) => number = () => Number.POSITIVE_INFINITY;

  record(event: DurableEvent, at: number): void {
    switch (event.type) {
      case "priorities-defined":
        this.#ageing = event.ageing;
        this.#ruledAt = at;
        return;
      case "spaces-defined": {
        const policies = new Map(event.spaces.map(({ name, policy }) => [String(name), policy]));
        this.#boundOf = (space) =>
          (policies.get(space) ?? event.others)?.priorityMax ?? Number.POSITIVE_INFINITY;
        this.#ruledAt = at;
        return;
      }
      case "request-queued": {
        const { priority = 0, space } = event.ask;
        this.#waiting.set(event.id, { priority, changedAt: at, space });
        return;
      }
      case "request-left":
      case "lease-granted":
        if (event.type === "lease-granted") this.#noneIsLate(at);
        this.#waiting.delete(event.id);
        return;
      case "claim-replaced":
        this.#waiting.delete(event.request);
        return;
      case "priority-changed":
        return this.#changed(event, at);
      default:
        return;
    }
  }

  /** The priority of a waiting request now. */
  of(id: string, { priority = 0 }: ResolvedAsk): number {
    return this.#waiting.get(id)?.priority ?? priority;
  }

  #changed({ id, priority, aged, starved }: EventOf<"priority-changed">, at: number): void {
    const known = this.#waiting.get(id);
    if (known === undefined) throw new Error(`Cannot record a priority: ${id} does not wait`);
    if (starved === true) {
      assertInvariant(priority === known.priority, () => `${id} got another priority by starving`);
      return;
    }
    if (aged === true) this.#checkRise(id, known, priority, at);
    known.priority = priority;
    known.changedAt = at;
  }

  #checkRise(id: string, { priority: was, changedAt, space }: Waiting, to: number, at: number) {
    const ageing = this.#ageing;
    assertInvariant(ageing !== null, () => `${id} rose although nothing rises`);
    if (ageing === null) return;
    const steps = Math.floor((at - changedAt) / ageing.everyMs);
    const top = this.#topOf(ageing, space);
    const wanted = Math.min(top, was + steps * ageing.step);
    assertInvariant(
      steps >= 1 && to === wanted && to > was,
      () => `${id} rose from ${was} to ${to} instead of ${wanted} after ${at - changedAt} ms`,
    );
  }

  #topOf({ max }: Ageing, space: string | undefined): number {
    return space === undefined ? max : Math.min(max, this.#boundOf(space));
  }

  #noneIsLate(at: number): void {
    const ageing = this.#ageing;
    if (ageing === null) return;
    for (const [id, { priority, changedAt, space }] of this.#waiting) {
      if (priority >= this.#topOf(ageing, space)) continue;
      const dueAt = Math.max(changedAt + ageing.everyMs, this.#ruledAt);
      assertInvariant(at <= dueAt + lateMsMax, () => `${id} should have risen at ${dueAt}`);
    }
  }
}
