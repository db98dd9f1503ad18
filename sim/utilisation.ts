/**
 * `node sim/utilisation.ts > docs/guides/utilisation.svg`: the same requests, large and small,
 * under each strategy; how much of the pool is in use, and how long the large requests wait. One
 * day depends on chance, so the chart shows the mean of twenty days and their range.
 */
import { emptyState } from "../src/core/apply/create.ts";
import { decide } from "../src/core/decide/decide.ts";
import type { PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import { defaultPolicy, type PoolSpec } from "../src/core/model/policy.ts";
import { type Strategy, strategies } from "../src/core/model/strategies.ts";
import type { Instant } from "../src/core/model/time.ts";
import { Random } from "../src/insight/forecast/random.ts";

const pool = "vsphere" as PoolName;
const minuteMs = 60_000;
const minutes = 480;
/** Each is the seed of a day. */
const days = Array.from({ length: 20 }, (_, index) => index + 1);

interface Day {
  /** Of all vcpus, minute by minute, from 0 to 1. */
  readonly used: readonly number[];
  readonly largeWaitMinutes: number;
}

function specOf(strategy: Strategy): PoolSpec {
  return {
    name: pool,
    policy: { ...defaultPolicy, ttlMs: 86_400_000, placement: { strategy } },
    members: Array.from({ length: 6 }, (_, index) => ({
      name: `pool${index + 1}` as ResourceName,
      labels: {},
      room: { index, capacity: { vcpus: 120, memory: 480 } },
    })),
  };
}

/** One working day. The seed alone decides the requests. */
export function utilisation(strategy: Strategy, seed: number): Day {
  const random = new Random(seed);
  const state = emptyState();
  const ends = new Map<string, number>();
  const holds = new Map<string, number>();
  const waits: number[] = [];
  const used: number[] = [];
  const act = (command: Parameters<typeof decide>[1], minute: number) =>
    decide(state, command, (minute * minuteMs) as Instant);
  act({ type: "configure", pools: [specOf(strategy)] }, 0);
  for (let minute = 0; minute < minutes; minute++) {
    act({ type: "tick" }, minute);
    for (const [id, end] of ends) {
      if (end > minute) continue;
      act({ type: "release", id: id as RequestId }, minute);
      ends.delete(id);
    }
    for (let count = random.between(0, 2); count > 0; count--) {
      const large = random.chance(0.1);
      const id = `${large ? "large" : "small"}-${minute}-${count}`;
      holds.set(id, random.between(15, 35));
      const amount = large
        ? { vcpus: 96, memory: 240 }
        : { vcpus: 8 * random.between(1, 3), memory: 24 };
      const ask = { holder: id, items: [{ pool, count: 1, amount }] };
      act({ type: "acquire", id: id as RequestId, ask, waitMs: 86_400_000 }, minute);
    }
    for (const [id, lease] of state.leases) {
      if (ends.has(id)) continue;
      ends.set(id, minute + (holds.get(id) ?? 30));
      if (id.startsWith("large")) waits.push((lease.grantedAt - lease.queuedAt) / minuteMs);
    }
    const rooms = [...(state.pools.get(pool)?.shared ?? [])];
    const vcpus = rooms.reduce((sum, { levels }) => sum + (levels[0]?.used ?? 0), 0);
    used.push(vcpus / 720);
  }
  return { used, largeWaitMinutes: waits.length === 0 ? 0 : mean(waits) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

interface Run {
  readonly strategy: Strategy;
  readonly used: readonly number[];
  readonly largeWaits: readonly number[];
}

function meanDay(strategy: Strategy): Run {
  const all = days.map((seed) => utilisation(strategy, seed));
  return {
    strategy,
    used: Array.from({ length: minutes }, (_, minute) =>
      mean(all.map(({ used }) => used[minute] ?? 0)),
    ),
    largeWaits: all.map(({ largeWaitMinutes }) => largeWaitMinutes).sort((a, b) => a - b),
  };
}

/** `pack: 76 % in use; large ones wait 12 min, 4 to 31 from day to day`. */
function words({ strategy, used, largeWaits }: Run): string {
  const share = Math.round(mean(used) * 100);
  const [least = 0, most = 0] = [largeWaits[0], largeWaits.at(-1)];
  const range = `${least.toFixed(0)} to ${most.toFixed(0)} from day to day`;
  return `${strategy}: ${share} % in use; large ones wait ${mean(largeWaits).toFixed(0)} min, ${range}`;
}

const colours = ["#2563eb", "#16a34a", "#d97706", "#9333ea"];
const [width, height, left, top] = [720, 330, 44, 88];

export function drawing(): string {
  const runs = strategies.map(meanDay);
  const x = (minute: number) => (left + (minute / minutes) * (width - left - 12)).toFixed(1);
  const y = (share: number) => (top + (1 - share) * (height - top - 28)).toFixed(1);
  const lines = runs.map(({ used }, index) => {
    const points = used.flatMap((share, minute) =>
      minute % 4 === 0 ? [`${x(minute)},${y(share)}`] : [],
    );
    return `<polyline fill="none" stroke="${colours[index]}" stroke-width="1.5" points="${points.join(" ")}"/>`;
  });
  const legend = runs.map((run, index) => {
    return `<text x="${left}" y="${16 + index * 18}" fill="${colours[index]}">${words(run)}</text>`;
  });
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const text = `<text x="4" y="${Number(y(share)) + 4}" fill="#6b7280">${share * 100} %</text>`;
    return `<line x1="${left}" x2="${width - 12}" y1="${y(share)}" y2="${y(share)}" stroke="#e5e7eb"/>${text}`;
  });
  const hours = [0, 2, 4, 6, 8].map(
    (hour) => `<text x="${x(hour * 60)}" y="${height - 8}" fill="#6b7280">${hour} h</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    "<title>How much is in use over a day, under each strategy, as the mean of twenty days</title>",
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...grid,
    ...hours,
    ...lines,
    ...legend,
    "</svg>",
    "",
  ].join("\n");
}

if (import.meta.main) process.stdout.write(drawing());
