import type { EstimateAccuracy } from "../src/api/history-schemas.ts";

type Counts = Pick<EstimateAccuracy["total"], "compared" | "withinP50" | "withinP90">;

/**
 * The shares of requests that are granted by their estimates, on one day of this traffic. It has bursts,
 * priorities and cancelled requests, which estimates do not foresee (`calibration.test.ts`).
 */
export const dayBand = { p50: [0.36, 0.62], p90: [0.76, 0.97] } as const;

/**
 * The same with several teams, and with paces: a start at the very time that was expected counts as one
 * by the P50, so more than half of them are.
 */
export const teamsBand = { p50: [0.4, 0.72], p90: dayBand.p90 } as const;

const comparedMin = 300;

const none: Counts = { compared: 0, withinP50: 0, withinP90: 0 };

/** Adds up how good the estimates of servers were that start again now and then. */
export class EstimateTally {
  readonly #latest = new Map<string, Counts>();
  #ended = none;

  /** What a server says that has counted since its start. */
  saw(server: string, counts: Counts): void {
    const before = this.#latest.get(server) ?? none;
    if (counts.compared < before.compared) this.#ended = sum(this.#ended, before);
    this.#latest.set(server, counts);
  }

  get total(): Counts {
    return [...this.#latest.values()].reduce(sum, this.#ended);
  }

  /** Fewer than that are too few to judge. */
  get isInBand(): boolean {
    const { compared, withinP50, withinP90 } = this.total;
    if (compared < comparedMin) return true;
    const isIn = (count: number, [low, high]: readonly [number, number]) =>
      count >= low * compared && count <= high * compared;
    return isIn(withinP50, teamsBand.p50) && isIn(withinP90, teamsBand.p90);
  }

  get text(): string {
    const { compared, withinP50, withinP90 } = this.total;
    if (compared < comparedMin)
      return `Only ${compared} estimates could be compared: too few to judge.`;
    const percent = (share: number) => `${Math.round(100 * share)} %`;
    const band = ([low, high]: readonly [number, number]) => `${percent(low)} to ${percent(high)}`;
    const of = (count: number, range: readonly [number, number]) =>
      `${percent(count / compared)} (band ${band(range)})`;
    return `Of ${compared} estimates ${of(withinP50, teamsBand.p50)} were right by the P50 and
${of(withinP90, teamsBand.p90)} by the P90.`;
  }
}

function sum(a: Counts, b: Counts): Counts {
  return {
    compared: a.compared + b.compared,
    withinP50: a.withinP50 + b.withinP50,
    withinP90: a.withinP90 + b.withinP90,
  };
}
