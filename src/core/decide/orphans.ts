/**
 * Compares what a search has found outside with the books. Only the broker knows both at one moment,
 * and remembers since when a cluster has no owner.
 */
import { clustersOf } from "../explain/cluster-view.ts";
import type { ClusterCommand } from "../model/command.ts";
import { type OrphanCluster, orphansMax } from "../model/orphan.ts";
import type { Outcome } from "../model/outcome.ts";
import type { State } from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

type Command = Extract<ClusterCommand, { type: "clusters-found" }>;

/** Answers which of them are orphans. */
export function clustersFound(turn: Turn, { template, credentials, found }: Command): Outcome {
  const { state } = turn;
  const books = instancesIn(state);
  const unknown = new Map(
    found.filter(({ instance }) => !books.has(instance)).map((one) => [one.instance, one]),
  );
  for (const orphan of [...state.orphanClusters.values()]) {
    if (isOf(orphan, template, credentials) && !unknown.has(orphan.instance)) {
      emit(turn, { type: "orphan-gone", instance: orphan.instance });
    }
  }
  for (const one of unknown.values()) {
    if (state.orphanClusters.has(one.instance) || state.orphanClusters.size >= orphansMax) continue;
    emit(turn, { type: "orphan-found", ...one, template, credentials });
  }
  const orphans = [...state.orphanClusters.values()].filter(({ instance }) =>
    unknown.has(instance),
  );
  return { type: "orphans", orphans };
}

function isOf(orphan: OrphanCluster, template: string, credentials: string | null): boolean {
  return orphan.template === template && orphan.credentials === credentials;
}

function instancesIn(state: State): ReadonlySet<string> {
  return new Set(Array.from(clustersOf(state), ({ cluster }) => cluster.instance));
}
