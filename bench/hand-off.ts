/**
 * How long a resource is idle between its release and the reply to the long poll that waits for it.
 */
import { median, type Running, scratchFolder, startBerth } from "./process.ts";

const handOffs = 300;
const pool = "slot";

export interface HandOffRow {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Held {
  readonly id: string;
  readonly token: string;
}

/**
 * Two jobs take turns with one resource. Measures from sending the release to reading the grant.
 */
export async function benchHandOff(): Promise<HandOffRow> {
  const folder = scratchFolder();
  const berth = await startBerth(folder.path, `pools: { ${pool}: { count: 1 } }`);
  try {
    const timesMs: number[] = [];
    let held = (await (await ask(berth)).json()) as Held;
    for (let turn = 0; turn < handOffs; turn++) {
      const waiting = ask(berth);
      await untilOneWaits(berth);
      const releasedAt = performance.now();
      void release(berth, held);
      const reply = await waiting;
      timesMs.push(performance.now() - releasedAt);
      held = (await reply.json()) as Held;
    }
    const sorted = timesMs.toSorted((a, b) => a - b);
    return {
      p50Ms: median(timesMs),
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    };
  } finally {
    await berth.stop();
    folder.remove();
  }
}

function ask({ port }: Running): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/leases`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ holder: "bench/1", items: [{ pool }], wait: "1m" }),
  });
}

function release({ port }: Running, { id, token }: Held): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/leases/${id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
}

async function untilOneWaits({ port }: Running): Promise<void> {
  for (;;) {
    const reply = await fetch(`http://127.0.0.1:${port}/v1/pools/${pool}`);
    const { waiting } = (await reply.json()) as { waiting: number };
    if (waiting === 1) return;
  }
}
