/** What workers have last found on the hubs. Only in memory: it is found again within minutes. */
import type { Instant } from "../../core/model/time.ts";

/** A cluster on a hub, as its worker has found it. */
export interface FoundOnHub {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: string;
  readonly owner: string | null;
  readonly state: string;
  readonly instance: string | null;
}

interface Found {
  readonly at: Instant;
  readonly clusters: readonly FoundOnHub[];
  /** The instances of Berth when a worker looked, and the time before. */
  readonly known: ReadonlySet<string>;
  readonly knownBefore: ReadonlySet<string>;
}

export class HubClusters {
  readonly #found = new Map<string, Found>();

  /** `known` are the instances that Berth has now. */
  put(hub: string, clusters: readonly FoundOnHub[], known: ReadonlySet<string>): void {
    const knownBefore = this.#found.get(hub)?.known ?? known;
    this.#found.set(hub, { at: Date.now() as Instant, clusters, known, knownBefore });
  }

  /** Without those that Berth has destroyed about when a worker looked, or since. Undefined if none has looked. */
  of(hub: string, knownNow: ReadonlySet<string>): Pick<Found, "at" | "clusters"> | undefined {
    const found = this.#found.get(hub);
    if (found === undefined) return undefined;
    const { at, known, knownBefore } = found;
    const clusters = found.clusters.filter(({ instance }) => {
      if (instance === null || knownNow.has(instance)) return true;
      return !known.has(instance) && !knownBefore.has(instance);
    });
    return { at, clusters };
  }
}
