import { expect, test } from "vitest";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { phasesOf } from "./cluster-phases.ts";

const at = (minute: number) => `2026-01-01T10:${String(minute).padStart(2, "0")}:00.000Z`;

/** In the order of time; the feed has the newest first. */
function events(...list: readonly [minute: number, type: string, facts: object][]): FeedEvent[] {
  return list
    .map(([minute, type, facts], index) => ({ seq: index + 1, at: at(minute), type, ...facts }))
    .toReversed() as FeedEvent[];
}

test("phasesOf() follows a cluster from its plan to its removal", () => {
  const spans = phasesOf(
    "ocp-1",
    events(
      [0, "resource-added", { resource: "ocp-1", state: "creating" }],
      [
        1,
        "lease-granted",
        { claims: [{ resource: "ocp-1", into: "creating", purpose: "provision" }] },
      ],
      [2, "cluster-reported", { resource: "ocp-1", progress: 0.5 }],
      [5, "lease-ended", { back: [{ resource: "ocp-1", state: "free" }] }],
      [6, "lease-granted", { claims: [{ resource: "other" }, { resource: "ocp-1" }] }],
      [9, "lease-ended", { back: [{ resource: "ocp-1", state: "used" }] }],
      [9, "cluster-moved", { resource: "ocp-1", state: "destroying" }],
      [12, "resource-removed", { resource: "ocp-1" }],
    ),
  );
  expect(
    spans.map(({ state, from, to }) => [state, from.slice(14, 16), to?.slice(14, 16)]),
  ).toEqual([
    ["creating", "00", "05"],
    ["free", "05", "06"],
    ["busy", "06", "09"],
    ["destroying", "09", "12"],
    ["gone", "12", undefined],
  ]);
});

test("phasesOf() knows a replaced cluster and a failed attempt", () => {
  const spans = phasesOf(
    "ocp-2",
    events(
      [0, "resource-added", { resource: "ocp-2", state: "creating" }],
      [1, "lease-ended", { back: [{ resource: "ocp-2", state: "creating", failures: 1 }] }],
      [2, "lease-ended", { back: [{ resource: "ocp-2", state: "free" }] }],
      [3, "claim-replaced", { granted: { id: "c", resource: "ocp-2" } }],
    ),
  );
  expect(spans.map(({ state }) => state)).toEqual(["creating", "free", "busy"]);
  expect(phasesOf("ocp-9", [])).toEqual([]);
});
