/**
 * Compares what a search has found outside with the books. Only the broker knows both at one moment,
 * and remembers since when a cluster has no owner.
 */
import { clustersOf } from "../explain/cluster-view.ts";
import type { ClusterCommand } from "../model/command.ts";
import { type OrphanCluster, orphansMax, type SearchScope } from "../model/orphan.ts";
import type { Outcome } from "../model/outcome.ts";
import type { State } from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

type Command = Extract<ClusterCommand, { type: "clusters-found" }>;

/** Answers which of them are orphans. */
export function clustersFound(turn: Turn, command: Command): Outcome {
  const { state } = turn;
  const { template, credentials, hub, found } = command;
  const scope = { template, credentials, ...(hub === undefined ? undefined : { hub }) };
  const books = instancesIn(state);
  const unknown = new Map(
    found.filter(({ instance }) => !books.has(instance)).map((one) => [one.instance, one]),
  );
  for (const orphan of [...state.orphanClusters.values()]) {
    if (isOf(orphan, scope) && !unknown.has(orphan.instance)) {
      emit(turn, { type: "orphan-gone", instance: orphan.instance });
    }
  }
  for (const one of unknown.values()) {
    if (state.orphanClusters.has(one.instance) || state.orphanClusters.size >= orphansMax) continue;
    emit(turn, { type: "orphan-found", ...one, ...scope });
  }
  const orphans = [...state.orphanClusters.values()].filter(({ instance }) =>
    unknown.has(instance),
  );
  return { type: "orphans", orphans };
}

function isOf(orphan: OrphanCluster, { template, credentials, hub }: SearchScope): boolean {
  const isSame = orphan.template === template && orphan.credentials === credentials;
  return isSame && orphan.hub === hub;
}

function instancesIn(state: State): ReadonlySet<string> {
  return new Set(Array.from(clustersOf(state), ({ cluster }) => cluster.instance));
}
