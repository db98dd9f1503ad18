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
}

export class HubClusters {
  readonly #found = new Map<string, Found>();
  put(hub: string, clusters: readonly FoundOnHub[]): void {
    this.#found.set(hub, { at: Date.now() as Instant, clusters });
  }

  /** Undefined if no worker has looked. */
  of(hub: string): Found | undefined {
    return this.#found.get(hub);
  }
}
