import { expect, test } from "vitest";
import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import {
  coveredMs,
  drainsOf,
  fittingMs,
  type Hold,
  holdsOf,
  meanUseOf,
  quarantinesOf,
  rowsOf,
} from "./holds.ts";

const minuteMs = 60_000;
const time = (ms: number) => new Date(ms).toISOString();
const hold = (startMs: number, endMs: number): Hold => {
  return { id: `${startMs}`, holder: "job", startMs, endMs, how: "released", purpose: "use" };
};
const spans = (holds: readonly Hold[]) => holds.map(({ startMs, endMs }) => [startMs, endMs]);

test("holdsOf() has all current holders of a shared resource, and past ones", () => {
  const shares = [
    { id: "a", holder: "job-a", since: time(10), amount: { cpu: 1 } },
    { id: "b", holder: "job-b", since: time(20), amount: { cpu: 1 } },
  ];
  const past = {
    ...{ id: "c", holder: "job-c", grantedAt: time(1), endedAt: time(5), how: "expired" },
    purpose: "use",
  } as HistoryEntry;
  const left = { ...past, id: "d", grantedAt: null };
  const holds = holdsOf({ lease: null, shares, state: "busy" }, [past, left], 99);
  expect(holds).toMatchObject([
    { id: "a", holder: "job-a", startMs: 10, endMs: 99, how: "held" },
    { id: "b", holder: "job-b", startMs: 20, endMs: 99, how: "held" },
    { id: "c", startMs: 1, endMs: 5, how: "expired" },
  ]);
});

test("quarantinesOf() has those by people and by cleaners, and the one that goes on", () => {
  const event = (ms: number, type: string, facts: object) =>
    ({ seq: ms, at: time(ms), type, ...facts }) as unknown as FeedEvent;
  const mine = (state: string) => ({ resource: "aws-1", state });
  const events = [
    event(80, "resource-changed", { resource: "aws-1", note: "no disk" }),
    event(70, "lease-ended", { back: [mine("quarantined")] }),
    event(60, "lease-granted", { claims: [{ resource: "aws-1", into: "cleaning" }] }),
    event(50, "resource-changed", mine("free")),
    event(45, "resource-changed", mine("quarantined")),
    event(40, "resource-changed", { resource: "aws-2", state: "free" }),
    event(30, "resource-changed", mine("quarantined")),
  ];
  const resource = { name: "aws-1", state: "quarantined", drained: false, changedAt: time(70) };
  const found = [
    { startMs: 30, endMs: 50 },
    { startMs: 70, endMs: 99 },
  ];
  expect(quarantinesOf(resource, events, 99)).toEqual(found);
  expect(quarantinesOf({ ...resource, state: "free" }, events.slice(3), 99)).toEqual([found[0]]);
  // The event of its end has not come yet.
  const freed = { ...resource, state: "free", changedAt: time(90) };
  expect(quarantinesOf(freed, events, 99).at(-1)).toEqual({ startMs: 70, endMs: 90 });
  // Its beginning is earlier than the events go.
  expect(quarantinesOf(resource, [], 99)).toEqual([found[1]]);
});

test("holdsOf() marks a cleaning that goes on", () => {
  const lease = { id: "a", holder: "janitor", since: time(10), endsAt: null, fence: 1 };
  expect(holdsOf({ lease, state: "cleaning" }, [], 99)).toMatchObject([{ purpose: "clean" }]);
});

test.each([
  [
    "holds one after the other in one row",
    [hold(5, 9), hold(1, 5)],
    [
      [
        [1, 5],
        [5, 9],
      ],
    ],
  ],
  ["holds at the same time in rows of their own", [hold(1, 5), hold(2, 3)], [[[1, 5]], [[2, 3]]]],
  [
    "too many at a time in the last row",
    [hold(1, 9), hold(2, 9), hold(3, 9)],
    [
      [[1, 9]],
      [
        [2, 9],
        [3, 9],
      ],
    ],
  ],
])("rowsOf() puts %s", (_, holds, want) => {
  expect(rowsOf(holds, 2).map(spans)).toEqual(want);
});

test("coveredMs() counts a time with several holds once, and nothing before the start", () => {
  expect(coveredMs([hold(0, 10), hold(5, 20), hold(30, 40)], 4)).toBe(26);
});

test.each([
  ["since it was added", [hold(2 * minuteMs, 3 * minuteMs)], minuteMs, 9 * minuteMs],
  ["since the first hold, if nobody knows", [hold(2 * minuteMs, 3)], undefined, 8 * minuteMs],
  ["an hour without any hold", [], undefined, 60 * minuteMs],
  ["at least a minute", [], 10 * minuteMs - 5, minuteMs],
  ["at most a week", [], -1e12, 7 * 24 * 60 * minuteMs],
])("fittingMs() is the time %s", (_, holds, addedMs, want) => {
  expect(fittingMs(holds, addedMs, 10 * minuteMs)).toBe(want);
});

test("drainsOf() has past drains and the one that goes on, whatever its state was", () => {
  const event = (ms: number, drained: boolean, resource = "aws-1") =>
    ({ seq: ms, at: time(ms), type: "resource-changed", resource, drained }) as FeedEvent;
  const events = [event(70, true), event(50, false), event(40, true, "aws-2"), event(30, true)];
  const resource = { name: "aws-1", state: "busy", drained: true, changedAt: time(60) };
  const found = [
    { startMs: 30, endMs: 50 },
    { startMs: 70, endMs: 99 },
  ];
  expect(drainsOf(resource, events, 99)).toEqual(found);
  expect(drainsOf({ ...resource, drained: false }, events.slice(1), 99)).toEqual([found[0]]);
});

test("meanUseOf() is of the fullest dimension, within the time", () => {
  const usage = [
    { dimension: "vcpus", used: 0, capacity: 8, reserved: 0 },
    { dimension: "memory", used: 0, capacity: 100, reserved: 0 },
    { dimension: "none", used: 0, capacity: 0, reserved: 0 },
  ];
  const holds = [
    { ...hold(0, 60), amount: { vcpus: 4, memory: 100 } },
    { ...hold(50, 90), amount: { vcpus: 2 } },
    { ...hold(95, 200), amount: null },
  ];
  const span = { startMs: 20, endMs: 100 };
  expect(meanUseOf(holds, usage, span)).toEqual({ dimension: "memory", share: 0.5 });
  expect(meanUseOf(holds.slice(1), usage, span)).toEqual({ dimension: "vcpus", share: 0.125 });
  expect(meanUseOf(holds, usage, { startMs: 20, endMs: 20 })).toBeUndefined();
  expect(meanUseOf(holds, undefined, span)).toBeUndefined();
});
