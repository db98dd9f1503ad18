/**
 * The herd: fifty jobs start at once, and two hundred more follow, one every six seconds. Each
 * installs for twenty minutes. The policy of the pool decides what the provider sees of it.
 */
import type { PoolPolicy } from "../../core/model/policy.ts";
import { VirtualPool } from "./virtual-pool.ts";

export interface Start {
  /** When the job started. */
  readonly wantedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Herd {
  readonly size: number;
  readonly policy: Partial<PoolPolicy>;
  /** How long the n-th job sleeps before its request. */
  readonly sleepMs?: (index: number) => number;
  /** Whether the queue is in the order of job starts, not of requests. */
  readonly byJobStart?: boolean;
  /** How long the n-th job takes, if it releases by itself. */
  readonly takesMs?: (index: number) => number;
  /**
   * Whether the pool has been in use for long: it is full, and one is released every hold / size.
   */
  readonly warm?: boolean;
}

export const holdMs = 20 * 60_000;
const atOnce = 50;
const following = 200;
const followEveryMs = 6_000;
export const herdSize = atOnce + following;

const wantedAt = (index: number): number =>
  index < atOnce ? 0 : (index - atOnce + 1) * followEveryMs;

interface Ask {
  readonly id: string;
  readonly at: number;
  readonly priority: number;
}

/** Returns every start of the herd, in order of time. The herd starts at 0. */
export function runHerd(herd: Herd): Start[] {
  const { size, policy, takesMs } = herd;
  const before = herd.warm ? asksBefore(size) : [];
  const beginsAt = before.at(-1)?.at ?? 0;
  const startedAt = new Map<string, number>();
  const starts: Start[] = [];
  const own = takesMs === undefined ? { holdMs } : {};
  const pool = new VirtualPool(size, { ...own, ...policy }, (event, at) => {
    if (event.type !== "lease-granted" && event.type !== "lease-ended") return;
    const index = indexOf(event.id);
    if (index === undefined) return;
    if (event.type === "lease-granted") {
      startedAt.set(event.id, at - beginsAt);
      if (takesMs === undefined) return;
      pool.plan(at + takesMs(index), { type: "release", id: event.id });
    } else {
      const started = startedAt.get(event.id) ?? at;
      starts.push({ wantedAt: wantedAt(index), startedAt: started, endedAt: at - beginsAt });
    }
  });
  for (const { id, at, priority } of [...before, ...asksOf(herd, beginsAt)]) {
    pool.passTo(at);
    pool.ask(id, priority);
  }
  pool.passAll();
  return starts.sort((a, b) => a.startedAt - b.startedAt || a.wantedAt - b.wantedAt);
}

const ownPrefix = "job-";

/** The index in the herd; undefined for a job from before. */
function indexOf(id: string): number | undefined {
  return id.startsWith(ownPrefix) ? Number(id.slice(ownPrefix.length)) : undefined;
}

function asksOf({ sleepMs = () => 0, byJobStart = false }: Herd, beginsAt: number): Ask[] {
  const asks = Array.from({ length: herdSize }, (_, index) => ({
    id: `${ownPrefix}${index}`,
    at: beginsAt + wantedAt(index) + sleepMs(index),
    priority: byJobStart ? -index : 0,
  }));
  return asks.sort((a, b) => a.at - b.at);
}

/** The last of them starts just before the herd, and the first one ends when one more is due. */
function asksBefore(size: number): Ask[] {
  return Array.from({ length: size }, (_, index) => {
    return { id: `before-${index}`, at: (index * holdMs) / size, priority: 0 };
  });
}
