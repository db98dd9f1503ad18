/**
 * Two sides take turns under the same load, and the median of the rounds counts, because the
 * machine is shared. A round in which other programs used much of it is repeated.
 */
import type { Load, LoadJob } from "./load-client.ts";
import { countOthers } from "./machine.ts";
import { median, type Running, runForJson } from "./process.ts";

interface Round {
  readonly base: Load;
  readonly measured: Load;
  readonly others: number;
}

export interface Turns {
  readonly base: number;
  readonly measured: number;
  readonly ratio: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** The share of the machine that other programs used. */
  readonly others: number;
}

const rounds = 5;
const roundsMax = 15;
const othersMax = 0.1;

export async function compareInTurns(
  servers: readonly Running[],
  base: () => Promise<Load>,
  measured: () => Promise<Load>,
): Promise<Turns> {
  const played: Round[] = [];
  const quiet: Round[] = [];
  while (quiet.length < rounds && played.length < roundsMax) {
    const others = countOthers(servers.map(({ child }) => child.pid));
    const round = { base: await base(), measured: await measured(), others: others() };
    played.push(round);
    if (round.others <= othersMax) quiet.push(round);
  }
  const counted = quiet.length < rounds ? played : quiet;
  const of = (read: (round: Round) => number) => median(counted.map(read));
  return {
    base: of((round) => round.base.perSecond),
    measured: of((round) => round.measured.perSecond),
    ratio: of((round) => round.measured.perSecond / round.base.perSecond),
    p50Us: of((round) => round.measured.p50Us),
    p99Us: of((round) => round.measured.p99Us),
    others: of((round) => round.others),
  };
}

export async function load(job: Omit<LoadJob, "warmUpMs" | "measureMs">): Promise<Load> {
  const measured = await runForJson<Load>("load-client.ts", {
    ...job,
    warmUpMs: 700,
    measureMs: 1_500,
  });
  if (measured.failures > 0)
    throw new Error(`Cannot measure: ${measured.failures} requests failed`);
  return measured;
}
