import { dirtyState } from "../../core/model/lifecycle.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import type { HistoryEntry } from "../history/entry.ts";
import type { CleaningTimes } from "./cleaning-times.ts";

/** What the replay of these pools cannot know. Each sentence names the pool. */
export function limitsOf(
  pools: readonly PoolSpec[],
  ended: readonly HistoryEntry[],
  times: CleaningTimes,
): string[] {
  return pools.flatMap((pool) => [
    ...admissionLimit(pool, ended),
    ...adaptiveLimit(pool),
    ...cleaningLimit(pool, times),
    ...clusterLimit(pool, ended),
  ]);
}

function admissionLimit({ name, policy }: PoolSpec, ended: readonly HistoryEntry[]): string[] {
  if (policy.admission === undefined) return [];
  const granted = ended.filter((entry) => entry.pool === name && entry.grantedAt !== null);
  const waited = granted.filter(({ waitedFor }) => waitedFor === "admission").length;
  return [
    `Pool ${name} has an admission check. Its results are not replayed: every check passes. ` +
      `${waited} of ${granted.length} recorded grants waited for a check last, so their waits are missing.`,
  ];
}

function clusterLimit({ name, policy }: PoolSpec, ended: readonly HistoryEntry[]): string[] {
  if (policy.cluster === undefined) return [];
  const granted = ended.filter((entry) => entry.pool === name && entry.grantedAt !== null);
  const waited = granted.filter(({ waitedFor }) => waitedFor?.startsWith("cluster_")).length;
  return [
    `Pool ${name} makes clusters. That is not replayed: every cluster is ready and gone at once. ` +
      `${waited} of ${granted.length} recorded grants waited for a cluster; the simulated waits leave that time out.`,
  ];
}

function adaptiveLimit({ name, policy }: PoolSpec): string[] {
  if (policy.adaptive?.mode !== "auto") return [];
  return [
    `Pool ${name} has an adaptive start rate. Reports of throttling are not replayed, so its rate only rises.`,
  ];
}

function cleaningLimit({ name, policy }: PoolSpec, times: CleaningTimes): string[] {
  const isCleaned = policy.onRelease === dirtyState || policy.onExpire === dirtyState;
  if (!isCleaned || times.isKnown(name)) return [];
  return [
    `Pool ${name} leaves resources dirty, but none of its cleanings is recorded: cleaning takes no time.`,
  ];
}
