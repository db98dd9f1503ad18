/**
 * Two sides take turns under the same load, and the median of the rounds counts, because the
 * machine is shared. A round in which other programs used much of it is repeated. The sides also
 * take turns at being first, because a machine that has just worked is slower.
 */
import { setTimeout } from "node:timers/promises";
import type { Load, LoadJob } from "./load-client.ts";
import { countOthers, processorMs } from "./machine.ts";
import { median, type Running, runForJson } from "./process.ts";

interface LoadOnServer extends Load {
  /** Time that the server's process used per request, on all of its threads. */
  readonly workUs: number;
}

interface Round {
  readonly base: LoadOnServer;
  readonly measured: LoadOnServer;
  readonly others: number;
}

export interface Turns {
  readonly base: number;
  readonly measured: number;
  readonly ratio: number;
  /**
   * The processor time of a measured request, as a multiple of the base's. Other programs disturb it
   * less than `ratio`.
   */
  readonly work: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** The share of the machine that other programs used. */
  readonly others: number;
}

const rounds = 8;
const roundsMax = 16;
const othersMax = 0.1;
/** Longer than what a server collects before it writes it. */
const idleChecks = 5;
const idleCheckMs = 300;
const idleUsedMsMax = 30;

export async function compareInTurns(
  servers: readonly Running[],
  base: () => Promise<LoadOnServer>,
  measured: () => Promise<LoadOnServer>,
): Promise<Turns> {
  const played: Round[] = [];
  const quiet: Round[] = [];
  while (quiet.length < rounds && played.length < roundsMax) {
    const others = countOthers(servers.map(({ child }) => child.pid));
    const isBaseFirst = played.length % 2 === 0;
    await untilIdle(servers);
    const first = await (isBaseFirst ? base() : measured());
    await untilIdle(servers);
    const second = await (isBaseFirst ? measured() : base());
    const sides = isBaseFirst
      ? { base: first, measured: second }
      : { base: second, measured: first };
    const round = { ...sides, others: others() };
    played.push(round);
    if (round.others <= othersMax) quiet.push(round);
  }
  const counted = quiet.length < rounds ? played : quiet;
  const of = (read: (round: Round) => number) => median(counted.map(read));
  return {
    base: of((round) => round.base.perSecond),
    measured: of((round) => round.measured.perSecond),
    ratio: of((round) => round.measured.perSecond / round.base.perSecond),
    work: of((round) => round.measured.workUs / round.base.workUs),
    p50Us: of((round) => round.measured.p50Us),
    p99Us: of((round) => round.measured.p99Us),
    others: of((round) => round.others),
  };
}

/**
 * A server writes its history and its audit when a burst of requests is over. That belongs to its own
 * turn: the next turn begins when every server has nothing left to do.
 */
export async function untilIdle(servers: readonly Running[]): Promise<void> {
  const used = () => servers.reduce((sum, { child }) => sum + processorMs(child.pid), 0);
  for (let idle = 0; idle < idleChecks; ) {
    const before = used();
    await setTimeout(idleCheckMs);
    idle = used() - before > idleUsedMsMax ? 0 : idle + 1;
  }
}

export async function load(
  { child, port }: Running,
  job: Omit<LoadJob, "port" | "warmUpMs" | "measureMs">,
  measureMs = 1_500,
): Promise<LoadOnServer> {
  const usedBefore = processorMs(child.pid);
  const times = { warmUpMs: 700, measureMs };
  const loaded = await runForJson<Load>("load-client.ts", { ...job, ...times, port });
  const usedMs = processorMs(child.pid) - usedBefore;
  if (loaded.failures > 0) throw new Error(`Cannot measure: ${loaded.failures} requests failed`);
  return { ...loaded, workUs: (usedMs * 1_000) / loaded.replies };
}
