/**
 * Boskos's `/acquire` and `/release` as a share of what Berth's own calls do in the same server. The
 * two take turns, and the median of the rounds counts.
 */
import type { Load } from "./load-client.ts";
import { median, result, scratchFolder, startBerth } from "./process.ts";

export interface BoskosRow {
  readonly connections: number;
  readonly native: number;
  readonly boskos: number;
  readonly ratio: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const rounds = 5;
const pool = "quota";

export async function benchBoskos(connectionCounts: readonly number[]): Promise<BoskosRow[]> {
  const folder = scratchFolder();
  const pools = `pools: { ${pool}: { count: 200, ttl: 1s, lockDelay: 0s } }`;
  const berth = await startBerth(folder.path, pools);
  try {
    const rows: BoskosRow[] = [];
    for (const connections of connectionCounts) rows.push(await compare(berth.port, connections));
    return rows;
  } finally {
    await berth.stop();
    folder.remove();
  }
}

async function compare(port: number, connections: number): Promise<BoskosRow> {
  const measured: { native: Load; boskos: Load }[] = [];
  const job = { port, connections, warmUpMs: 700, measureMs: 1_500, pool };
  for (let round = 0; round < rounds; round++) {
    const native = await result<Load>("load-client.ts", job);
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // What it left over expires.
    const boskos = await result<Load>("load-client.ts", { ...job, words: "boskos" });
    await freeAll(port);
    const failures = native.failures + boskos.failures;
    if (failures > 0) throw new Error(`Cannot measure: ${failures} requests failed`);
    measured.push({ native, boskos });
  }
  const of = (read: (round: { native: Load; boskos: Load }) => number) =>
    median(measured.map(read));
  return {
    connections,
    native: of((round) => round.native.perSecond),
    boskos: of((round) => round.boskos.perSecond),
    ratio: of((round) => round.boskos.perSecond / round.native.perSecond),
    p50Us: of((round) => round.boskos.p50Us),
    p99Us: of((round) => round.boskos.p99Us),
  };
}

/** Holders that are known by name only do not expire. */
async function freeAll(port: number): Promise<void> {
  const query = `type=${pool}&state=busy&expire=0&dest=free`;
  await fetch(`http://127.0.0.1:${port}/reset?${query}`, { method: "POST" });
}
