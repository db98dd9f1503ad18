/** Exports a data folder as records of Boskos, to migrate back. */

import { Broker } from "../../broker/broker.ts";
import { SystemEnvironment } from "../../broker/environment.ts";
import { coolingState, freeState } from "../../core/model/lifecycle.ts";
import {
  type ExclusiveClaim,
  exclusiveClaim,
  isHeld,
  type Resource,
  type State,
} from "../../core/model/state.ts";
import { type Instant, never } from "../../core/model/time.ts";
import { poolsOf } from "../../core/queue/needs.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";

/** `kubectl create -f` accepts a list of these. */
export interface BoskosList {
  readonly apiVersion: "v1";
  readonly kind: "List";
  readonly items: readonly object[];
}

/**
 * Every resource with its owner and its user data. Boskos creates its lifecycle records from its
 * own file. Throws the errors of opening a journal.
 */
export async function exportBoskos(data: string): Promise<BoskosList> {
  const journal = SqliteJournal.open(data);
  try {
    const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
    try {
      return await broker.read(listOf);
    } finally {
      await broker.close();
    }
  } finally {
    await journal.close();
  }
}

function listOf({ resources }: State): BoskosList {
  const sorted = [...resources.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { apiVersion: "v1", kind: "List", items: sorted.map(recordOf) };
}

/**
 * A client that polls does not know a lease that was granted after its last poll, and would never
 * ask Boskos for it. Its resource is exported as not held.
 */
function deliveredClaim(resource: Resource): ExclusiveClaim | null {
  const claim = exclusiveClaim(resource);
  return claim?.lease.delivered ? claim : null;
}

function recordOf(resource: Resource): object {
  const { name, pool, changedAt, userData, expiresAt } = resource;
  const claim = deliveredClaim(resource);
  return {
    apiVersion: "boskos.k8s.io/v1",
    kind: "ResourceObject",
    metadata: { name },
    spec: { type: pool.name },
    status: {
      state: stateIn(resource),
      owner: claim?.lease.ask.holder ?? "",
      // The reaper of Boskos counts from here, so a holder keeps the grace that it has here.
      lastUpdate: secondsOf(claim?.lease.seenAt ?? changedAt),
      userData: { ...userData }, // A copy, because YAML would write anchors for shared objects.
      ...(expiresAt === never ? undefined : { expirationDate: secondsOf(expiresAt) }),
    },
  };
}

/**
 * Boskos has no cooldown, so a cooling resource gets its next state. A drained resource gets a
 * state that no client requests.
 */
function stateIn(resource: Resource): string {
  const { drained, state, restsTo } = resource;
  const claim = exclusiveClaim(resource);
  const isUndelivered = claim !== null && !claim.lease.delivered;
  if (drained && (isUndelivered || !isHeld(resource))) return "drained";
  if (isUndelivered) return stateBeforeGrant(claim);
  return state === coolingState ? restsTo : state;
}

function stateBeforeGrant({ lease, resource }: ExclusiveClaim): string {
  const item = lease.ask.items.find((each) => poolsOf(each).includes(resource.pool.name));
  return item?.state ?? freeState;
}

/** Kubernetes stores whole seconds. */
function secondsOf(at: Instant): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
