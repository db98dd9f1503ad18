/**
 * The herd: fifty jobs start in one instant and two hundred more follow, one every six seconds. Each
 * installs for twenty minutes. What the provider sees of it depends on how its pool lends.
 */
import type { PoolPolicy } from "../core/policy.ts";
import { VirtualPool } from "./virtual-pool.ts";

export interface Start {
  /** When the job came to life. */
  readonly wantedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Herd {
  readonly size: number;
  readonly policy: Partial<PoolPolicy>;
  /** How long the n-th job sleeps before it asks. */
  readonly sleepMs?: (index: number) => number;
}

export const holdMs = 20 * 60_000;
const atOnce = 50;
const following = 200;
const followEveryMs = 6_000;
export const herdSize = atOnce + following;

const wantedAt = (index: number): number =>
  index < atOnce ? 0 : (index - atOnce + 1) * followEveryMs;

/** Every start, in order of time. */
export function runHerd({ size, policy, sleepMs = () => 0 }: Herd): Start[] {
  const asks = Array.from({ length: herdSize }, (_, index) => ({
    id: `job-${index}`,
    at: wantedAt(index) + sleepMs(index),
  }));
  asks.sort((a, b) => a.at - b.at);
  const startedAt = new Map<string, number>();
  const starts: Start[] = [];
  const pool = new VirtualPool(size, { holdMs, ...policy }, (event, at) => {
    if (event.type === "lease-granted") startedAt.set(event.id, at);
    if (event.type !== "claim-ended") return;
    const index = Number(event.id.slice("job-".length));
    const started = startedAt.get(event.id) ?? at;
    starts.push({ wantedAt: wantedAt(index), startedAt: started, endedAt: at });
  });
  for (const { id, at } of asks) {
    pool.passTo(at);
    pool.ask(id);
  }
  pool.passAll();
  return starts.sort((a, b) => a.startedAt - b.startedAt || a.wantedAt - b.wantedAt);
}
