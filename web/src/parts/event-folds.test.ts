import { describe, expect, test } from "vitest";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { noteHolder } from "../data/holder-names.ts";
import { foldsOf, foldWords, wholeFoldsOf } from "./event-folds.ts";
import { contextOf, notePools, poolsOf } from "./event-subjects.ts";

const second = (seconds: number) =>
  new Date(Date.UTC(2026, 10, 17) + seconds * 1_000).toISOString();
const granted = (seq: number, pool: string, seconds = 0): FeedEvent => {
  const ask = { items: [{ pool, count: 1 }], space: "web" };
  return { seq, at: second(seconds), type: "lease-granted", id: `r${seq}`, ask };
};
const ended = (seq: number, id: string, why: string, resource = "x"): FeedEvent => ({
  ...{ seq, at: second(0), type: "lease-ended", id, why, back: [{ resource, state: "free" }] },
});

describe("foldsOf()", () => {
  test("puts several of one kind into a row, and leaves trouble as it is", () => {
    const events = [
      ended(7, "a", "expired"),
      granted(6, "aws"),
      ended(5, "b", "released"),
      granted(4, "aws"),
      ended(3, "c", "released"),
      granted(2, "gcp"),
    ];
    const folds = foldsOf(events).map((fold) => fold.events.map(({ seq }) => seq));
    expect(folds).toEqual([[7], [6, 4, 2], [5], [3]]);
  });

  test("puts the kinds of traffic of one time into a row, between the news", () => {
    const events = [
      ...[ended(9, "a", "released"), granted(8, "aws"), ended(7, "b", "expired")],
      ...[ended(6, "c", "released"), granted(5, "aws"), granted(4, "aws")],
      ...[ended(3, "d", "released"), ended(2, "e", "released")],
    ];
    const folds = foldsOf(events);
    expect(folds.map((fold) => fold.events.map(({ seq }) => seq))).toEqual([
      [9, 8, 6, 5, 4, 3, 2],
      [7],
    ]);
    expect(folds.slice(0, 1).map((fold) => foldWords(fold, () => []))).toEqual([
      "4 leases released, 3 leases granted",
    ]);
  });

  test("puts equal ones together that are worth a look, and never red ones", () => {
    const lost = (seq: number) => ({ ...ended(seq, `r${seq}`, "expired"), at: second(seq) });
    const broken = (seq: number): FeedEvent => ({
      ...ended(seq, `c${seq}`, "released"),
      back: [{ resource: "x", state: "quarantined" }],
    });
    const folds = foldsOf([lost(19), broken(18), broken(17), lost(12), broken(11), lost(2)]);
    expect(folds.map((fold) => fold.events.map(({ seq }) => seq))).toEqual([
      [19, 12, 2],
      ...[[18], [17], [11]],
    ]);
    expect(folds.slice(0, 1).map((fold) => foldWords(fold, () => []))).toEqual([
      "3 leases expired",
    ]);
  });

  test("begins a new row after some seconds, with a key that stays", () => {
    const early = [granted(3, "aws", 4), granted(2, "aws", 3), granted(1, "aws", 2)];
    const [before] = foldsOf(early);
    const [next, same] = foldsOf([granted(5, "aws", 5), granted(4, "aws", 4.5), ...early]);
    expect(next?.events).toHaveLength(1);
    expect(same?.events).toHaveLength(4);
    expect(same?.key).toBe(before?.key);
  });
});

describe("wholeFoldsOf()", () => {
  const shown = (events: readonly FeedEvent[]) =>
    wholeFoldsOf(events).map((fold) => fold.events.map(({ seq }) => seq));
  const late = (seq: number) => ({ ...ended(seq, `r${seq}`, "expired"), at: second(seq) });

  test("leaves out a group of which there may be more before", () => {
    const events = [9, 8, 7, 4, 3, 2].map((seq) => granted(seq, "aws", seq));
    expect(shown(events)).toEqual([[9, 8, 7]]);
    // The more newer events have pushed out, the same: no group says less than it said.
    expect(shown(events.slice(0, -1))).toEqual([[9, 8, 7], [4], [3]]);
    expect(shown(events.slice(0, -3))).toEqual([[9, 8, 7]]);
  });

  test("leaves out a longer one of trouble with all that is as old", () => {
    const events = [
      late(64),
      late(62),
      late(61),
      granted(60, "aws", 36),
      late(33),
      late(32),
      late(31),
    ];
    expect(shown(events)).toEqual([[64, 62, 61]]);
    expect(shown(events.slice(0, -2))).toEqual([[64, 62, 61], [60], [33]]);
  });

  test("shows what there is if nothing else is left", () => {
    expect(shown([3, 2, 1].map((seq) => granted(seq, "aws", seq)))).toEqual([[3, 2, 1]]);
    expect(shown([])).toEqual([]);
  });
});

test("one step of a cluster is one row, whatever is in between", () => {
  const of = (seq: number, seconds: number, event: object): FeedEvent =>
    ({
      ...{ seq, at: second(seconds), type: "cluster-reported", resource: "ocp-4" },
      ...event,
    }) as FeedEvent;
  const events = [
    of(11, 95, {
      type: "lease-ended",
      id: "job",
      why: "released",
      back: [{ resource: "ocp-4", state: "used" }],
    }),
    of(10, 94, {
      type: "lease-ended",
      id: "w",
      why: "released",
      back: [{ resource: "ocp-4", state: "hibernated" }],
    }),
    of(9, 90, { type: "cluster-moved", state: "stopping", why: "", resource: "ocp-4" }),
    of(8, 80, { progress: 0.3, resource: "ocp-4" }),
    granted(6, "aws", 3),
    of(5, 3, { progress: 0, message: "DNS is awaited", resource: "ocp-4" }),
    of(4, 2, { resource: "ocp-4" }),
    of(3, 2, {
      type: "lease-granted",
      id: "w",
      claims: [{ resource: "ocp-4", purpose: "provision" }],
    }),
    of(2, 2, { resource: "ocp-5", progress: 0.5 }),
    of(1, 2, { type: "resource-added", pool: "ocp", cluster: {}, resource: "ocp-4" }),
  ];
  const folds = foldsOf(events);
  expect(folds.map((fold) => fold.events.map(({ seq }) => seq))).toEqual([
    [11],
    [10, 9],
    [8, 5, 4, 3, 1],
    ...[[6], [2]],
  ]);
  expect(folds.slice(1, 3).map((fold) => foldWords(fold, poolsOf))).toEqual([
    "ocp-4 was hibernated",
    "ocp-4 is made for ocp; reports 30 %",
  ]);
  const done = [...events.slice(1, 2), ...events.slice(4)];
  const made = foldsOf(done).map((fold) => foldWords(fold, poolsOf))[0];
  expect(made).toBe("ocp-4 was made for ocp; it was hibernated");
  // The key stays while the step goes on.
  expect(foldsOf(events.slice(4))[1]?.key).toBe(folds[2]?.key);
});

test.each([
  [["aws", "aws", "aws"], "3 leases granted in aws"],
  [["aws", "gcp", "aws"], "3 leases granted in 2 pools, 2 of them in aws"],
  [["aws", "gcp", "lab"], "3 leases granted in 3 pools"],
  // The largest of many small parts says nothing.
  [["a", "a", "b", "c", "d", "e", "f"], "7 leases granted in 6 pools"],
])("foldWords() of %j", (pools, words) => {
  const events = pools.map((pool, index) => granted(9 - index, pool));
  expect(foldsOf(events).map((fold) => foldWords(fold, poolsOf))).toEqual([words]);
});

test("pools and spaces are known from the first event of a request, or from names", () => {
  notePools(["aws", "aws-big", "gcp"]);
  const first = granted(1, "gcp");
  noteHolder({ ...first, holder: "e2e/1" });
  expect(poolsOf(first)).toEqual(["gcp"]);
  expect(contextOf(ended(5, "r1", "released", "any-name"))).toMatchObject({
    space: "web",
    pools: ["gcp"],
  });
  const unknown = ended(4, "before", "released", "aws-big-7");
  expect(contextOf(unknown)).toEqual({ pools: ["aws-big"] });
});
