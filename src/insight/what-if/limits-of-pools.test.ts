import { expect, test } from "vitest";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import type { HistoryEntry } from "../history/entry.ts";
import { CleaningTimes } from "./cleaning-times.ts";
import { limitsOf } from "./limits-of-pools.ts";

function grant(name: string, waitedFor: string | null, grantedAt: number | null = 1): HistoryEntry {
  return { pool: name, waitedFor, grantedAt } as unknown as HistoryEntry;
}

test("a pool of clusters says that they are not replayed, and how many waits are missing", () => {
  const ended = [
    grant("ocp", "cluster_creating"),
    grant("ocp", "cluster_resuming"),
    grant("ocp", null),
    grant("ocp", "no_free"),
    grant("ocp", "cluster_creating", null), // It was not granted.
    grant("aws", "cluster_creating"),
  ];
  const times = new CleaningTimes({ upkeep: [], dirty: [] } as never, [], 0);
  expect(limitsOf([clusterPool("ocp"), pool("aws", 1)], ended, times)).toEqual([
    "Pool ocp makes clusters. That is not replayed: every cluster is ready and gone at once. " +
      "2 of 4 recorded grants waited for a cluster; the simulated waits leave that time out.",
  ]);
});
