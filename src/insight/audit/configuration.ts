/**
 * One entry for what a new configuration changes. An entry for each resource would bury all others:
 * a first start has thousands. A large configuration has one entry for each slice of events that is
 * saved at once, because an entry that waits for more of them could be lost in a crash.
 */
import type { DurableEvent } from "../../core/model/event.ts";
import { describeEvent } from "./describe-event.ts";
import type { AuditFacts } from "./entry.ts";

/** How many pools, and how many resources, an entry names. */
export const namesMax = 50;

interface Numbered {
  readonly seq: number;
  readonly event: DurableEvent;
}

export function isConfiguration({ from }: DurableEvent): boolean {
  return from?.way === "config";
}

/** `poolOf` is asked for each resource, before it is removed. */
export class ConfigurationEntry {
  readonly #first: Numbered;
  #last: number;
  readonly #counts = new Map<string, number>();
  readonly #pools = new Set<string>();
  readonly #resources = new Set<string>();

  constructor(first: Numbered) {
    this.#first = first;
    this.#last = first.seq;
  }

  add({ seq, event }: Numbered, poolOf: (resource: string) => string | undefined): void {
    this.#last = seq;
    this.#counts.set(event.type, (this.#counts.get(event.type) ?? 0) + 1);
    const { pools, resources = [] } = describeEvent(event) ?? {};
    for (const resource of resources) this.#resources.add(resource);
    for (const pool of pools ?? resources.flatMap((name) => poolOf(name) ?? [])) {
      this.#pools.add(pool);
    }
  }

  #sizes() {
    return { poolCount: this.#pools.size, resourceCount: this.#resources.size };
  }

  get facts(): AuditFacts {
    const { event, seq } = this.#first;
    const [pools, resources] = [[...this.#pools], [...this.#resources]];
    const unnamed = pools.slice(namesMax).length + resources.slice(namesMax).length;
    return {
      action: "configuration-changed",
      event: seq,
      way: "config",
      ...(event.from?.by === undefined ? undefined : { by: event.from.by }),
      ...(pools.length === 0 ? undefined : { pools: pools.slice(0, namesMax) }),
      ...(resources.length === 0 ? undefined : { resources: resources.slice(0, namesMax) }),
      detail: {
        changes: Object.fromEntries(this.#counts),
        through: this.#last,
        // The names may be fewer.
        ...(unnamed === 0 ? undefined : { unnamed, ...this.#sizes() }),
      },
    };
  }
}
