/**
 * Durable grants and releases over HTTP, as a share of what a bare `node:http` server answers with the
 * same bytes. The two take turns, and the median of the rounds counts: the machine is shared.
 */
import type { Load } from "./load-client.ts";
import { median, type Running, result, scratchFolder, start, startBerth } from "./process.ts";

export interface RequestRow {
  readonly connections: number;
  readonly bare: number;
  readonly berth: number;
  readonly ratio: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const rounds = 5;
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
    for (const connections of connectionCounts) rows.push(await compare(bare, berth, connections));
    return rows;
  } finally {
    await Promise.all([bare.stop(), berth.stop()]);
    folder.remove();
  }
}

async function compare(bare: Running, berth: Running, connections: number): Promise<RequestRow> {
  const measured: { bare: Load; berth: Load }[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push({ bare: await load(bare, connections), berth: await load(berth, connections) });
  }
  const of = (read: (round: { bare: Load; berth: Load }) => number) => median(measured.map(read));
  return {
    connections,
    bare: of((round) => round.bare.perSecond),
    berth: of((round) => round.berth.perSecond),
    ratio: of((round) => round.berth.perSecond / round.bare.perSecond),
    p50Us: of((round) => round.berth.p50Us),
    p99Us: of((round) => round.berth.p99Us),
  };
}

async function load({ port }: Running, connections: number): Promise<Load> {
  const job = { port, connections, warmUpMs: 700, measureMs: 1_500, pool };
  const measured = await result<Load>("load-client.ts", job);
  if (measured.failures > 0)
    throw new Error(`Cannot measure: ${measured.failures} requests failed`);
  return measured;
}

/** What the bare server answers: the very bytes of a real lease. */
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
