/** Compares two servers under load in many short turns, and says how far the turns differ. */
import { countOthers } from "./machine.ts";
import { median, type Running, runForJson } from "./process.ts";
import type { Slice, SlicesResult } from "./slices-client.ts";
import { untilIdle } from "./turns.ts";

export interface Comparison {
  readonly base: number;
  readonly measured: number;
  /** The median over the pairs of turns that follow each other. */
  readonly ratio: number;
  /** A quarter of the pairs is below the first, and a quarter above the second. */
  readonly quarters: string;
  /** The processor time of a measured request, as a multiple of the base's: median and quarters. */
  readonly work: number;
  readonly workQuarters: string;
  /** The share of the machine that other programs used. */
  readonly others: number;
}

const turnMs = 250;
const turns = 12;
/** Servers get faster for some seconds. */
const warmUpTurns = 12;
/**
 * Two processes of the same program differ in speed for as long as they run, by more than what is measured
 * here. So the turns are those of several processes, and each side is the first to start as often as the other.
 */
const starts = 6;

export interface SidesOfLoad {
  readonly base: () => Promise<Running>;
  readonly measured: () => Promise<Running>;
  /** Who asks the measured side, in turns; default: nobody in particular. */
  readonly tokens?: readonly string[];
  readonly pool: string;
  readonly connections: number;
}

export async function compareInSlices(sides: SidesOfLoad): Promise<Comparison> {
  const pairs: SlicesResult["pairs"][number][] = [];
  const others: number[] = [];
  for (let start = 0; start < starts; start++) {
    const first = await (start % 2 === 0 ? sides.base() : sides.measured());
    const second = await (start % 2 === 0 ? sides.measured() : sides.base());
    const [base, measured] = start % 2 === 0 ? [first, second] : [second, first];
    try {
      await untilIdle([base, measured]);
      const countedOthers = countOthers([base.child.pid, measured.child.pid]);
      pairs.push(...(await takeTurns(base, measured, sides)));
      others.push(countedOthers());
    } finally {
      await Promise.all([base.stop(), measured.stop()]);
    }
  }
  const ratios = (read: (slice: Slice) => number) =>
    pairs.map(([one, two]) => read(two) / read(one));
  const speed = ratios(({ perSecond }) => perSecond);
  const work = ratios(({ workUs }) => workUs);
  return {
    base: Math.round(median(pairs.map(([one]) => one.perSecond))),
    measured: Math.round(median(pairs.map(([, two]) => two.perSecond))),
    ratio: median(speed),
    quarters: quarters(speed),
    work: median(work),
    workQuarters: quarters(work),
    others: median(others),
  };
}

async function takeTurns(
  base: Running,
  measured: Running,
  { tokens, pool, connections }: SidesOfLoad,
): Promise<SlicesResult["pairs"]> {
  const { pairs, failures } = await runForJson<SlicesResult>("slices-client.ts", {
    sides: [
      { port: base.port, pid: base.child.pid },
      { port: measured.port, pid: measured.child.pid, tokens },
    ],
    ...{ pool, connections, turnMs, turns, warmUpTurns },
  });
  if (failures > 0) throw new Error(`Cannot measure: ${failures} requests failed`);
  return pairs;
}

function quarters(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return `${at(0.25).toFixed(2)} to ${at(0.75).toFixed(2)}`;
}
