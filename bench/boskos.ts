/**
 * The throughput of Boskos's `/acquire` and `/release`, as a share of Berth's own calls on the same
 * server. The two take turns, and the median of the rounds counts.
 */
import { setTimeout } from "node:timers/promises";
import { type Running, scratchFolder, startBerth } from "./process.ts";
import { compareInTurns, load } from "./turns.ts";

export interface BoskosRow {
  readonly connections: number;
  readonly nativePerSecond: number;
  readonly boskosPerSecond: number;
  readonly ratio: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** The share of the machine that other programs used. */
  readonly others: number;
}

const pool = "quota";

export async function benchBoskos(connectionCounts: readonly number[]): Promise<BoskosRow[]> {
  const folder = scratchFolder();
  const pools = `pools: { ${pool}: { count: 200, ttl: 1s, lockDelay: 0s } }`;
  const berth = await startBerth(folder.path, pools);
  try {
    const rows: BoskosRow[] = [];
    for (const connections of connectionCounts) rows.push(await compare(berth, connections));
    return rows;
  } finally {
    await berth.stop();
    folder.remove();
  }
}

async function compare(berth: Running, connections: number): Promise<BoskosRow> {
  const job = { connections, pool };
  const native = async () => {
    const measured = await load(berth, job);
    await setTimeout(1_500); // Waits until the leases of the last round have expired.
    return measured;
  };
  const boskos = async () => {
    const measured = await load(berth, { ...job, api: "boskos" });
    await freeAll(berth.port);
    return measured;
  };
  const { base, measured, ...rest } = await compareInTurns([berth], native, boskos);
  return { connections, nativePerSecond: base, boskosPerSecond: measured, ...rest };
}

/** Leases of Boskos clients do not expire. */
async function freeAll(port: number): Promise<void> {
  const query = `type=${pool}&state=busy&expire=0&dest=free`;
  await fetch(`http://127.0.0.1:${port}/reset?${query}`, { method: "POST" });
}
