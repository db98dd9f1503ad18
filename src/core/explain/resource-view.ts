/** The public view of a resource: plain data with names, without references. */
import { usualMs } from "../clusters/work-texts.ts";
import { isPhase } from "../model/cluster.ts";
import type { Reason } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import { exclusiveClaim, type Resource, type State, shownState } from "../model/state.ts";
import { earliest, type Instant, never } from "../model/time.ts";
import type { Amounts } from "../shared/placement/shareable.ts";
import { isMade, ownerOfCluster } from "./cluster-view.ts";
import { sharedIn, type Usage, usagesOf } from "./explain-capacity.ts";
import { type SharedView, sharedView } from "./shared-view.ts";
import { type ClaimView, claimView, type LeaseView, leaseView } from "./view.ts";

export interface ResourceView {
  readonly name: ResourceName;
  readonly pool: PoolName;
  readonly state: string;
  readonly drained: boolean;
  /** Null also if it is drained, and an old journal does not say by whom. */
  readonly drainReason: Reason | null;
  readonly retired: boolean;
  readonly note: string;
  readonly changedAt: Instant;
  readonly restsUntil: Instant | null;
  readonly dynamic: boolean;
  /** Its state follows from its plan: nobody else may set it. */
  readonly cluster: boolean;
  /** What a worker does with a cluster now: since when, and for how long usually. Null: nothing. */
  readonly phase: { readonly since: Instant; readonly usualMs: number | null } | null;
  /** The space that may read the note; null: all may. Undefined: only those who see all spaces. */
  readonly noteFor: SpaceName | undefined | null;
  readonly expiresAt: Instant | null;
  readonly failures: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Only the keys, because the values may be credentials. */
  readonly userDataKeys: readonly string[];
  /** The lease of an exclusive resource; null if it is not held. */
  readonly lease: {
    readonly id: RequestId;
    readonly holder: string;
    readonly since: Instant;
    readonly endsAt: Instant | null;
    readonly fence: number;
  } | null;
  /** Null for an exclusive resource. */
  readonly shared: SharedView | null;
}

export function resourceView(resource: Resource): ResourceView {
  return {
    name: resource.name,
    pool: resource.pool.name,
    state: shownState(resource),
    drained: resource.drained,
    drainReason: resource.drainReason,
    retired: resource.retired,
    note: resource.note,
    changedAt: resource.changedAt,
    restsUntil: orNull(resource.restsUntil),
    dynamic: resource.dynamic,
    cluster: isMade(resource),
    phase: phaseOf(resource),
    noteFor: noteReader(resource),
    expiresAt: orNull(resource.expiresAt),
    failures: resource.failures,
    labels: resource.labels,
    userDataKeys: Object.keys(resource.userData),
    lease: leaseOn(resource),
    shared: resource.sharing === "exclusive" ? null : sharedView(resource),
  };
}

function phaseOf(resource: Resource): ResourceView["phase"] {
  const state = shownState(resource);
  if (!isMade(resource) || !isPhase(state)) return null;
  return { since: resource.cluster.since, usualMs: usualMs(resource.pool, state) };
}

/**
 * The note of a drained resource is why an operator has drained it, and that of a cluster in stock
 * may be one's words too: no space reads them.
 */
export function noteReader(resource: Resource): SpaceName | undefined | null {
  if (resource.drained) return undefined;
  return isMade(resource) ? (ownerOfCluster(resource) ?? undefined) : null;
}

function leaseOn(resource: Resource): ResourceView["lease"] {
  const claim = exclusiveClaim(resource);
  if (claim === null) return null;
  const { lease, heldUntil, fence } = claim;
  const endsAt = orNull(earliest(heldUntil, lease.endsAt));
  return { id: lease.id, holder: lease.ask.holder, since: lease.grantedAt, endsAt, fence };
}

function orNull(instant: Instant | null): Instant | null {
  return instant === never ? null : instant;
}

export interface ResourceFilter {
  readonly pool?: string;
  readonly state?: string;
  readonly names?: readonly string[];
}

/**
 * Reads as few resources as possible: a page with ten thousand resources asks for one or two by
 * name.
 */
export function resourcesLike(state: State, filter: ResourceFilter): IteratorObject<Resource> {
  return Iterator.from(candidates(state, filter)).filter(
    (resource) =>
      (filter.pool === undefined || resource.pool.name === filter.pool) &&
      (filter.state === undefined || shownState(resource) === filter.state),
  );
}

function candidates({ resources, pools }: State, filter: ResourceFilter): Iterable<Resource> {
  const { names, pool } = filter;
  if (names !== undefined) {
    return [...new Set(names)].flatMap((name) => resources.get(name as ResourceName) ?? []);
  }
  return pool === undefined ? resources.values() : (pools.get(pool as PoolName)?.members ?? []);
}

/** A shared resource with all its claims. */
export interface SharedResourceView {
  readonly name: ResourceName;
  readonly labels: Readonly<Record<string, string>>;
  /** As configured, without overcommit. */
  readonly capacity: Amounts;
  readonly usage: readonly Usage[];
  /** The names of its parts, by kind. */
  readonly parts: ReadonlyMap<string, readonly string[]>;
  readonly claims: readonly { readonly lease: LeaseView; readonly claim: ClaimView }[];
}

/** All shared resources, in the order of the configuration. */
export function sharedResourceViews({ pools }: State): SharedResourceView[] {
  return [...pools.values()].flatMap(sharedIn).map((resource) => ({
    name: resource.name,
    labels: resource.labels,
    capacity: resource.spec.capacity,
    usage: usagesOf(resource),
    parts: new Map(
      Array.from(resource.parts, ([kind, parts]) => [kind, parts.map(({ name }) => name)]),
    ),
    claims: Array.from(resource.claims, (claim) => {
      return { lease: leaseView(claim.lease), claim: claimView(claim) };
    }),
  }));
}
