/**
 * One of many processes that race for slots: takes one, uses it for a while, gives it back, and again.
 * Each moment in which it thinks that it holds a slot is a line in a file that all of them share.
 */
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { isTemporary, pause } from "../src/client/pause.ts";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import { LeaseStore } from "../src/kubernetes/lease-store.ts";
import { acquireSlot } from "../src/slots/acquire.ts";
import { type HeldSlot, releaseSlot } from "../src/slots/held-slot.ts";
import { KeptSlot } from "../src/slots/keep-slot.ts";

export interface RaceTask {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly count: number;
  readonly durationSeconds: number;
  readonly turnMs: number;
  readonly log: string;
}

/** A moment of use. Processes of one machine share its clock. */
export interface Use {
  readonly slot: number;
  readonly fence: number;
  readonly identity: string;
  readonly atMs: number;
}

const tickMs = 25;
const [name = "", json = "{}"] = process.argv.slice(2);
const task = JSON.parse(json) as RaceTask;
const stopped = new AbortController();
process.stdin.on("end", () => process.exit()); // Whoever started it is gone.
process.once("SIGTERM", () => stopped.abort(new Error("The race is over")));

const api = await ApiServer.connect({ kubeconfig: task.kubeconfig });
const store = new LeaseStore(api, task.namespace);
const set = { namespace: task.namespace, prefix: "slot", app: "race", count: task.count };

console.log("ready");
await once(process.stdin, "data"); // All begin together. From here on it flows, up to its end.
for (let round = 0; !stopped.signal.aborted; round++) {
  try {
    await use(await acquired(`${name}:${round}`));
  } catch (error) {
    // A busy machine keeps an answer back for a while; what was held then ends by itself.
    if (!stopped.signal.aborted && !isTemporary(error)) throw error;
  }
}

process.stdin.destroy();

function acquired(identity: string): Promise<HeldSlot> {
  const { durationSeconds, turnMs } = task;
  const ask = { set, identity, durationSeconds, turnMs, timeoutMs: 600_000 };
  return acquireSlot(store, { ...ask, signal: stopped.signal });
}

/** Stops as soon as it is told of a loss, and by its own clock before anybody else can have it. */
async function use(held: HeldSlot): Promise<void> {
  const kept = new KeptSlot(store, held);
  await kept.alive.confirmed;
  const useMs = 300 + Math.random() * 1_200;
  for (let usedMs = 0; usedMs < useMs && !stopped.signal.aborted; usedMs += tickMs) {
    const atMs = performance.timeOrigin + performance.now();
    if (kept.signal.aborted || kept.alive.leftMs <= 0) break;
    const { slot, fence, identity } = held;
    appendFileSync(task.log, `${JSON.stringify({ slot, fence, identity, atMs } satisfies Use)}\n`);
    await pause(tickMs);
  }
  kept.stop();
  await releaseSlot(store, held);
}
