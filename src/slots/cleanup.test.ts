import { expect, test } from "vitest";
import type { ClusterObject } from "../kubernetes/clusters.ts";
import { orphansOf } from "./cleanup.ts";
import { newSlot } from "./slot.ts";
import { newTicket } from "./ticket.ts";

const nowMs = Date.parse("2026-11-15T12:00:00Z");
const set = { namespace: "clusters", prefix: "slot", app: "ci", count: 3 };
const kind = { group: "g", version: "v1", plural: "clusters", namespace: "clusters", tag: "ci" };
const made = (minutesAgo: number) => new Date(nowMs - minutesAgo * 60_000).toISOString();
const cluster = (name: string, minutesAgo = 120, deleting = false): ClusterObject => ({
  metadata: {
    name,
    creationTimestamp: made(minutesAgo),
    ...(deleting ? { deletionTimestamp: made(1) } : undefined),
  },
});
const holding = (identity: string, secondsAgo = 0) => {
  const term = { identity, durationSeconds: 60, nowMs: nowMs - secondsAgo * 1_000 };
  const lease = newSlot(set, 0, term);
  return { ...lease, metadata: { ...lease.metadata, creationTimestamp: made(60) } };
};
const orphans = (clusters: ClusterObject[], ...leases: ReturnType<typeof holding>[]) =>
  orphansOf(clusters, { leases, nowMs }, set, { kind, graceMs: 30 * 60_000 }).map(
    ({ metadata }) => metadata.name,
  );

test("orphansOf() compares the whole suffix: pr1 is not pr12", () => {
  const all = [cluster("ci-pr1"), cluster("ci-pr12"), cluster("ci-pr1-x")];
  expect(orphans(all, holding("pr12:7"))).toEqual(["ci-pr1", "ci-pr1-x"]);
  expect(orphans(all, holding("pr1:7"))).toEqual(["ci-pr12", "ci-pr1-x"]);
});

test("orphansOf() skips young clusters, clusters that are being deleted and clusters of others", () => {
  const all = [cluster("ci-a", 29), cluster("ci-b", 300, true), cluster("prod-c"), cluster("ci-")];
  expect(orphans(all)).toEqual([]);
  expect(orphans([cluster("ci-a", 30)])).toEqual(["ci-a"]);
});

test("orphansOf() does not count an expired slot", () => {
  expect(orphans([cluster("ci-pr1")], holding("pr1:7", 61))).toEqual(["ci-pr1"]);
});

test("orphansOf() skips a cluster whose run waits in the queue", () => {
  const ticket = newTicket(set, { identity: "pr1:8", waitSeconds: 3_600, nowMs });
  const leases = [{ ...ticket, metadata: { ...ticket.metadata, creationTimestamp: made(5) } }];
  const found = orphansOf([cluster("ci-pr1")], { leases, nowMs }, set, { kind, graceMs: 0 });
  expect(found).toEqual([]);
});
