import type { FrozenState } from "../../core/apply/snapshot.ts";
import type { ClusterWork } from "../virtual-clock/virtual-provisioner.ts";
import type { Random } from "./random.ts";

type FrozenPool = FrozenState["pools"][number];

/** A phase takes between these parts of its usual time. */
const [least, most] = [0.75, 1.5];
/** One that takes longer already ends after this part of the usual time. */
const overdue = 0.1;

/** How long the phases of clusters take, from the medians that the core has measured. */
export class PhaseTimes {
  readonly #pools: ReadonlyMap<string, FrozenPool>;

  constructor({ pools }: FrozenState) {
    this.#pools = new Map(pools.map((pool) => [pool.name as string, pool]));
  }

  /**
   * Undefined for a pool without clusters. Clusters take about the same time each, so one that was
   * made or woken is enough for an estimate.
   */
  samples(pool: string, enough: number): number | undefined {
    const phases = this.#pools.get(pool)?.clusters?.phases;
    if (phases === undefined) return undefined;
    const known = phases.creating.count + phases.resuming.count;
    return known === 0 ? 0 : Math.max(known, enough);
  }

  /** The total time of the phase; infinite if none was ever measured. */
  draw({ pool, phase, ageMs }: ClusterWork, random: Random): number {
    const known = this.#pools.get(pool)?.clusters?.phases[phase];
    if (known === undefined || known.count === 0) return Number.POSITIVE_INFINITY;
    const drawnMs = known.usualMs * (least + (most - least) * random.next());
    return Math.max(drawnMs, ageMs + known.usualMs * overdue);
  }
}
