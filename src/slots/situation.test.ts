import { describe, expect, test } from "vitest";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { View } from "../kubernetes/lease-board.ts";
import { situationOf } from "./situation.ts";
import { holderOf, newSlot, slotNumber } from "./slot.ts";
import { byArrival, newTicket } from "./ticket.ts";

const nowMs = Date.parse("2026-11-15T12:00:00Z");
const set = { namespace: "clusters", prefix: "berth-slot", app: "berth-slots", count: 3 };

const stored = (lease: LeaseObject, version: number): LeaseObject => ({
  ...lease,
  metadata: {
    ...lease.metadata,
    uid: `uid-${version}`,
    resourceVersion: String(version),
    creationTimestamp: "2026-11-15T11:59:00Z",
  },
});
const held = (slot: number, identity: string, version = slot + 1, ageMs = 0): LeaseObject =>
  stored(newSlot(set, slot, { identity, durationSeconds: 60, nowMs: nowMs - ageMs }), version);
const waiting = (identity: string, version: number, waitSeconds = 3_600): LeaseObject =>
  stored(newTicket(set, { identity, waitSeconds, nowMs }), version);
const see = (leases: readonly LeaseObject[], identity = "me:1") =>
  situationOf({ leases, nowMs } satisfies View, set, identity);

describe("situationOf()", () => {
  test("returns the free slots, lowest number first", () => {
    expect(see([held(1, "a:1")]).openings).toEqual([{ slot: 0 }, { slot: 2 }]);
  });

  test("returns expired slots after the free ones", () => {
    const silent = held(0, "a:1", 1, 60_000);
    const found = see([silent, held(2, "b:1")]);
    expect(found.openings).toEqual([{ slot: 1 }, { slot: 0, expired: silent }]);
    expect(found.msToOpening).toBe(60_000);
  });

  test("returns the slot of the same run, but not of another run on the same subject", () => {
    expect(see([held(0, "me:2"), held(1, "me:1")]).mine?.slot).toBe(1);
    expect(see([held(0, "me:2")]).mine).toBeUndefined();
  });

  test("returns the tickets ahead in order, and none behind", () => {
    const line = [waiting("c:1", 30), waiting("me:1", 20), waiting("a:1", 9), waiting("b:1", 10)];
    const { ahead, ticket } = see(line);
    expect(ahead.map(({ spec }) => spec?.holderIdentity)).toEqual(["a:1", "b:1"]);
    expect(ticket?.spec?.holderIdentity).toBe("me:1");
  });

  test("counts every ticket as ahead if the run has no ticket yet", () => {
    expect(see([waiting("a:1", 2), waiting("b:1", 1)]).ahead).toHaveLength(2);
  });

  test("skips tickets of runs that have a slot, and tickets that have expired", () => {
    expect(see([held(0, "a:1"), waiting("a:1", 5), waiting("b:1", 6, 59)]).ahead).toEqual([]);
  });

  test("does not offer slots beyond the count, and ignores their expiry", () => {
    const found = see([held(0, "a:1"), held(1, "b:1"), held(2, "c:1"), held(7, "d:1", 9, 30_000)]);
    expect(found.openings).toEqual([]);
    expect(found.msToOpening).toBe(60_000);
  });

  test("includes a slot that was created by hand, without labels or times", () => {
    const made = stored({ metadata: { name: "berth-slot-1" } }, 3);
    expect(see([made]).openings).toEqual([{ slot: 0 }, { slot: 2 }]);
    expect(see([made]).msToOpening).toBe(Number.POSITIVE_INFINITY);
  });
});

test.each([
  ["berth-slot-0", 0],
  ["berth-slot-12", 12],
  ["berth-slot-012", undefined],
  ["berth-slot-", undefined],
  ["berth-slot-wait-12", undefined],
  ["berth-slot-fence", undefined],
  ["other-berth-slot-1", undefined],
])("slotNumber() reads from %s the slot %s", (name, want) => {
  expect(slotNumber(set, { metadata: { name } })).toBe(want);
});

test.each([
  ["pr1:12", { suffix: "pr1", runId: "12" }],
  ["pr1:local-host:3", { suffix: "pr1", runId: "local-host:3" }],
  ["somebody", { suffix: "somebody", runId: "" }],
])("holderOf() reads %s", (identity, want) => {
  expect(holderOf(identity)).toEqual(want);
});

describe("byArrival()", () => {
  const ticket = (resourceVersion: string, creationTimestamp = "", name = "t") => ({
    metadata: { name, resourceVersion, creationTimestamp },
  });

  test("compares versions as numbers, also beyond the safe integers", () => {
    expect(byArrival(ticket("9"), ticket("10"))).toBeLessThan(0);
    expect(byArrival(ticket("90071992547409931"), ticket("90071992547409930"))).toBeGreaterThan(0);
  });

  test("compares the creation times, then the names, if versions are not numbers", () => {
    const [early, late] = ["2026-11-15T11:59:00Z", "2026-11-15T11:59:01Z"];
    expect(byArrival(ticket("x1", late), ticket("x2", early))).toBeGreaterThan(0);
    expect(byArrival(ticket("x1", early, "a"), ticket("x2", early, "b"))).toBeLessThan(0);
  });
});
