/** Explains why a request waits, with the same functions that decide on grants. */

import type { Obstacle } from "../gates/gate.ts";
import { closedUntil, gateObstacle } from "../gates/gates.ts";
import { descendants, limitOf, limitsFor } from "../gates/limits.ts";
import { hiddenHolder, type PoolName, type RequestId } from "../model/ids.ts";
import { coolingState, freeState } from "../model/lifecycle.ts";
import { isAhead } from "../model/rank.ts";
import { type Selection, selectionText } from "../model/selection.ts";
import {
  claimsOn,
  type ExclusiveNeed,
  type ExclusiveResource,
  idleCount,
  type Need,
  type Place,
  type Pool,
  queueAt,
  type Request,
  type Resource,
  type SharedNeed,
  shownState,
} from "../model/state.ts";
import { stateWord } from "../model/state-word.ts";
import { type Instant, never } from "../model/time.ts";
import { availableTo, isAvailable } from "../queue/available.ts";
import { keptFor, Leftover, overtakenMax } from "../queue/leftover.ts";
import { countAt, leaderOf, needAt } from "../queue/needs.ts";
import {
  capacityObstacle,
  explainShared,
  type SharedExplanation,
  sharedIn,
} from "./explain-capacity.ts";
import { clusterObstacle } from "./explain-clusters.ts";
import { isOutOfUse, outOfUseList, outOfUseText, type Reader, readerOf } from "./out-of-use.ts";
import { type SharedView, sharedView } from "./shared-view.ts";
import { selectedMembers, stockFor } from "./stock.ts";
import { type HolderView, holderView, type WaitReason } from "./wait-reason.ts";

/** Describes the first obstacle of a request, unless told otherwise for the space that it is of. */
export function waitReason(
  waiting: Request,
  now: Instant,
  reader: Reader = readerOf(waiting),
): WaitReason {
  const request = leaderOf(waiting);
  const needs = request.alternatives[0] ?? request.needs;
  const attempt = { needs, rank: request, now };
  const need =
    needs.find((one) => !isAvailable(one, request, now)) ??
    needs.find((one) => gateObstacle(attempt, one) !== null) ??
    needs[0];
  if (need === undefined) throw new Error(`Cannot explain ${request.id}: it has no needs`);
  const { gang } = request;
  if (gang !== null && !request.inLine) {
    const come = gang.members.length;
    const message = `${come} of the ${gang.size} of its group ${come === 1 ? "has" : "have"} come`;
    return { code: "group_incomplete", pool: need.pool.name, message };
  }
  const obstacle = gateObstacle(attempt, need) ?? shortage(need, { request, now, reader });
  const { code, what, shared } = obstacle;
  // Its place says nothing while its quota is used up: others go first.
  const line = code === "quota_reached" ? ownSpaceText(need, request) : undefined;
  const message = `${what}; ${line ?? lineText(need, request, shared)}`;
  return { code, pool: need.pool.name, message };
}

function ownSpaceText(need: Need, request: Request): string {
  const ahead = queueAt(need).countBeforeInSpace(request);
  return ahead === 0 ? "next of its space" : `${ahead} of its space ahead`;
}

function lineText(need: Need, request: Request, shared: Pool | undefined): string {
  const ahead = queueAt(need).countBefore(request);
  if (ahead > 0) return `${ahead} ahead`;
  const isFirst = shared === undefined || !isBehindIn(shared, request);
  return isFirst ? "next in line" : `others that share ${shared.name} are ahead`;
}

function isBehindIn(shared: Pool, request: Request): boolean {
  for (const { buckets } of descendants(shared)) {
    for (const { queue } of buckets.values()) {
      const first = queue.at(0);
      if (first !== undefined && isAhead(first, request)) return true;
    }
  }
  return false;
}

/** Describes an obstacle other than a gate: requests ahead, or too few free resources. */
function shortage(need: Need, wait: Wait): Obstacle {
  return need.sharing === "shared"
    ? capacityObstacle(need, wait.request, wait.reader)
    : exclusiveObstacle(need, wait);
}

/** A request that waits, and for whom that is explained. */
interface Wait {
  readonly request: Request;
  readonly now: Instant;
  readonly reader: Reader;
}

function exclusiveObstacle(need: ExclusiveNeed, wait: Wait): Obstacle {
  const { state } = need;
  const { request, now, reader } = wait;
  const making = need.pool.policy.cluster && clusterObstacle(need, request, now);
  if (making) return making;
  const stock = stockFor(need);
  const { name, size, count, idle } = stock;
  if (stock.only !== undefined) return namedObstacle(stock.only, need, wait);
  if (size === 0) return { code: "none_usable", what: `There is no ${name} now` };
  if (idle >= count)
    return queueObstacle(`${idle} of ${size} ${name} ${state}`, need, request, now);
  if (idle > 0) {
    return {
      code: "not_enough_free",
      what: `${idle} of ${size} ${name} ${state}, ${count} needed`,
    };
  }
  if (stock.held + stock.cooling === 0) {
    const what = `None of ${size} ${name} can be lent${mix(stock.shown)}${outOfUse(need, reader)}`;
    return { code: "none_usable", what };
  }
  if (stock.held >= size && state === freeState)
    return { code: "no_free", what: allHeld(name, size) };
  return { code: "no_free", what: `No ${name} is ${state}${mix(stock.shown)}` };
}

/** The obstacle of a need for one resource by its name. */
function namedObstacle(
  resource: ExclusiveResource,
  need: ExclusiveNeed,
  { request, now, reader }: Wait,
): Obstacle {
  const { name, claim, bucket, restsUntil } = resource;
  if (claim !== null) {
    const { holder, space } = claim.lease.ask;
    const isOurs = space === request.ask.space;
    return { code: "no_free", what: `${name} is held by ${isOurs ? holder : hiddenHolder}` };
  }
  if (bucket?.state === need.state) {
    return queueObstacle(`${name} is ${need.state}`, need, request, now);
  }
  if (restsUntil !== never) return { code: "no_free", what: `${name} is ${coolingState}` };
  return { code: "none_usable", what: `${name} ${outOfUseText(resource, reader)}` };
}

/** Enough resources are idle, but requests ahead keep them. */
function queueObstacle(
  what: string,
  need: ExclusiveNeed,
  request: Request,
  now: Instant,
): Obstacle {
  return keptForOlder(need, request, now)
    ? { code: "kept_for_others", what: `${what}, reserved for a request that has waited longer` }
    : { code: "behind_others", what: `${what}, but others are ahead` };
}

function outOfUse({ pool, selections }: ExclusiveNeed, reader: Reader): string {
  const all = selections === null ? [...pool.members] : selectedMembers(pool, selections);
  const text = outOfUseList(all.filter(isOutOfUse), reader);
  return text === "" ? "" : `: ${text}`;
}

function allHeld(name: string, size: number): string {
  return size === 1 ? `The only one of ${name} is held` : `All ${size} of ${name} are held`;
}

/** Whether resources are kept for an older request over several pools whose patience is over. */
function keptForOlder(place: Place, request: Request, now: Instant): boolean {
  let looked = 0;
  for (const ahead of queueAt(place)) {
    if (ahead === request || looked === overtakenMax) return false;
    looked += 1;
    const kept = keptFor(ahead, place, now);
    if (kept > 0) return Number.isFinite(kept);
  }
  return false;
}

function mix(shown: ReadonlyMap<string, number>): string {
  const counts = new Map<string, number>();
  for (const [state, count] of shown) {
    const word = stateWord(state);
    if (count > 0) counts.set(word, (counts.get(word) ?? 0) + count);
  }
  const text = Array.from(counts, ([word, count]) => `${count} ${word}`).join(", ");
  return text === "" ? "" : ` (${text})`;
}

export interface NeedExplanation {
  readonly pool: PoolName;
  /** The state of the resources that it needs. */
  readonly state: string;
  /**
   * The selector or the resource's name, if the request has one. Then all counts, states and
   * holders are those of the matching resources.
   */
  readonly selects: string | null;
  readonly needed: number;
  /** Free, and not kept for a request ahead. */
  readonly available: number;
  readonly free: number;
  readonly size: number;
  readonly states: Readonly<Record<string, number>>;
  /** The time of the next possible grant; null if no gate is closed until a known time. */
  readonly nextAt: Instant | null;
  /** The pool that has this gate: the pool itself, or an ancestor. */
  readonly nextBy: PoolName | null;
  /** The shared limits and their use, nearest first. */
  readonly limits: readonly LimitView[];
  readonly ahead: number;
  /** The requests ahead of it, first in the queue first. At most `listedMax`. */
  readonly aheadOfIt: readonly {
    readonly id: RequestId;
    readonly holder: string;
    readonly count: number;
    readonly keeps: number | "all";
  }[];
  /** The holders of the pool's resources, longest hold first. At most `listedMax`. */
  readonly heldBy: readonly HolderView[];
  /** For a shared pool: each resource and what it lacks. At most `listedMax`. */
  readonly rooms: readonly RoomView[] | null;
}

/** A shared resource: what it lacks for a request, what is in use, and who has it. */
export interface RoomView extends SharedExplanation {
  readonly shared: SharedView;
}

export interface LimitView {
  readonly pool: PoolName;
  readonly used: number;
  readonly limit: number;
}

export function limitViews(pool: Pool): LimitView[] {
  return Array.from(limitsFor(pool), (limit) => {
    return { pool: limit.name, used: limit.used, limit: limitOf(limit) };
  });
}

/**
 * The time of the next possible grant and the pool whose gate is closed; null if no gate has a
 * known time.
 */
export function nextGrant(pool: Pool, now: Instant): NextGrant {
  const closed = closedUntil(pool, now);
  if (closed === null) return { nextAt: null, nextBy: null };
  return { nextAt: closed.until, nextBy: closed.by.name };
}

type NextGrant = Pick<NeedExplanation, "nextAt" | "nextBy">;

/** The maximum length of lists for people. The counts next to them are complete. */
export const listedMax = 20;

/** Explains each need of a request. */
export function explainNeeds(
  waiting: Request,
  now: Instant,
  reader: Reader = readerOf(waiting),
): NeedExplanation[] {
  const request = leaderOf(waiting);
  return request.needs.map((need) => ({
    pool: need.pool.name,
    state: need.state,
    needed: need.count,
    ...(need.sharing === "shared"
      ? sharedCounts(need, request, reader)
      : counts(need, request, now)),
    ...nextGrant(need.pool, now),
    limits: limitViews(need.pool),
    ahead: queueAt(need).countBefore(request),
    aheadOfIt: aheadOf(request, need, now),
  }));
}

type Counts = Pick<
  NeedExplanation,
  "selects" | "available" | "free" | "size" | "states" | "heldBy" | "rooms"
>;

function counts(need: ExclusiveNeed, request: Request, now: Instant): Counts {
  const { pool, selections } = need;
  if (selections !== null) return selectedCounts(need, selections, request, now);
  return {
    selects: null,
    available: availableTo(need, request, now),
    free: idleCount(pool, need.state),
    size: pool.size,
    states: statesOf(pool),
    heldBy: holdersOf(pool.members),
    rooms: null,
  };
}

function selectedCounts(
  need: ExclusiveNeed,
  selections: readonly Selection[],
  request: Request,
  now: Instant,
): Counts {
  const { pool, state } = need;
  const members = selectedMembers(pool, selections);
  const idle = members.filter(({ bucket }) => bucket?.state === state);
  const states: Record<string, number> = {};
  for (const resource of members) {
    states[shownState(resource)] = (states[shownState(resource)] ?? 0) + 1;
  }
  const bucket = pool.buckets.get(state);
  const left = bucket && Leftover.at(bucket, request, now);
  return {
    selects: selections.map((one) => selectionText(one) || "any").join(", "),
    available: left === undefined ? 0 : left.countOf(idle),
    free: idle.length,
    size: members.filter(({ retired }) => !retired).length,
    states,
    heldBy: holdersOf(members),
    rooms: null,
  };
}

function sharedCounts(need: SharedNeed, request: Request, reader: Reader): Counts {
  const resources = explainShared(need, request, reader);
  const fitting = resources.filter(({ fits }) => fits).length;
  return {
    selects: null,
    available: fitting,
    free: fitting,
    size: need.pool.size,
    states: statesOf(need.pool),
    heldBy: holdersOf(need.pool.members),
    rooms: withUsage(need.pool, resources.slice(0, listedMax)),
  };
}

/** Of the same moment as the rest, so that all numbers of an explanation agree. */
function withUsage(pool: Pool, explained: readonly SharedExplanation[]): RoomView[] {
  const byName = new Map(sharedIn(pool).map((resource) => [resource.name, resource]));
  return explained.flatMap((one) => {
    const resource = byName.get(one.resource);
    return resource === undefined ? [] : [{ ...one, shared: sharedView(resource) }];
  });
}

function aheadOf(request: Request, place: Place, now: Instant): NeedExplanation["aheadOfIt"] {
  const ahead = [];
  for (const other of queueAt(place)) {
    if (other === request || ahead.length === listedMax) break;
    ahead.push({
      id: other.id,
      holder: other.ask.holder,
      count: countAt(other, place),
      keeps: keptBy(other, place, now),
    });
  }
  return ahead;
}

/** A request that selects resources keeps only the free ones that match. */
function keptBy(request: Request, place: Place, now: Instant): number | "all" {
  const need = needAt(request, place);
  const bucket = place.pool.buckets.get(place.state);
  let kept = keptFor(request, place, now);
  if (bucket !== undefined && need?.sharing === "exclusive" && need.selections !== null) {
    const left = new Leftover(bucket);
    left.keep(request, now);
    kept = bucket.idle.size - left.count;
  }
  return Number.isFinite(kept) ? kept : "all";
}

function holdersOf(resources: Iterable<Resource>): HolderView[] {
  const claims = [...resources].flatMap((resource) => [...claimsOn(resource)]);
  claims.sort((a, b) => a.lease.grantedAt - b.lease.grantedAt);
  return claims.slice(0, listedMax).map(holderView);
}

/** The number of resources in each state, without zeros. */
export function statesOf(pool: Pool): Record<string, number> {
  return Object.fromEntries([...pool.shown].filter(([, count]) => count > 0));
}
