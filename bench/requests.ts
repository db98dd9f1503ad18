/**
 * Durable grants and releases over HTTP, as a share of the throughput of a bare `node:http` server
 * that sends the same bytes. The two take turns, and the median of the rounds counts, because the
 * machine is shared.
 */
import { type Running, scratchFolder, start, startBerth } from "./process.ts";
import { compareInTurns, load } from "./turns.ts";

export interface RequestRow {
  readonly connections: number;
  readonly bare: number;
  readonly berth: number;
  readonly ratio: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly others: number;
}

const pool = "quota";

export async function benchRequests(connectionCounts: readonly number[]): Promise<RequestRow[]> {
  const folder = scratchFolder();
  const berth = await startBerth(
    folder.path,
    `pools: { ${pool}: { count: 200, ttl: 1s, lockDelay: 0s } }`,
  );
  const bare = await start("bare-server.ts", [await sampleLease(berth)]);
  try {
    const rows: RequestRow[] = [];
    for (const connections of connectionCounts) {
      const { base, measured, ...rest } = await compareInTurns(
        [bare, berth],
        () => load(bare, { connections, pool }),
        () => load(berth, { connections, pool }),
      );
      rows.push({ connections, bare: base, berth: measured, ...rest });
    }
    return rows;
  } finally {
    await Promise.all([bare.stop(), berth.stop()]);
    folder.remove();
  }
}

/** The reply of the bare server: the bytes of a real lease. */
async function sampleLease({ port }: Running): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}/v1/leases`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ holder: "bench/1", items: [{ pool }] }),
  });
  const text = await reply.text();
  const { id, token } = JSON.parse(text) as { id: string; token: string };
  await fetch(`http://127.0.0.1:${port}/v1/leases/${id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  return text;
}
