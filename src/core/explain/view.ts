/** The public view of leases and requests: plain data with instants, without references. */
import type { Item } from "../model/command.ts";
import type { ClaimId, PoolName, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import { busyState } from "../model/lifecycle.ts";
import {
  type Claim,
  type Lease,
  type Need,
  queueAt,
  type Request,
  type Revoked,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { leaderOf } from "../queue/needs.ts";
import type { Amounts, Attribute, Part } from "../shared/placement/shareable.ts";
import { waitReason } from "./explain.ts";
import { type Reader, readerOf } from "./out-of-use.ts";
import type { WaitReason } from "./wait-reason.ts";

export interface ClaimView {
  readonly id: ClaimId;
  readonly pool: PoolName;
  readonly resource: ResourceName;
  readonly state: string;
  readonly fence: number;
  readonly heldUntil: Instant | null;
  /** When it is deleted, if no request takes it after its release. */
  readonly expiresAt: Instant | null;
  readonly labels: Readonly<Record<string, string>>;
  /** May contain credentials: only the holder may see it. */
  readonly userData: Readonly<Record<string, string>>;
  /** Whether its holder gets access to a cluster. */
  readonly cluster: boolean;
  /** For a shared resource: the amount of each dimension. */
  readonly amount: Amounts | null;
  /** The parts of the claim. Only the holder may see their attributes. */
  readonly parts: readonly PartView[];
}

export interface PartView {
  readonly kind: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface LeaseView {
  readonly id: RequestId;
  readonly key: string | undefined;
  readonly holder: string;
  readonly space: SpaceName | undefined;
  readonly priority: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly ttlMs: number | null;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  /** When the holder last sent something. */
  readonly seenAt: Instant;
  readonly heartbeatAt: Instant | null;
  /** False until a reply with the lease was sent: only clients that poll get it later. */
  readonly delivered: boolean;
  /** How often a reply with the lease was sent, with this one. */
  readonly repliesSent: number;
  /** Null if it does not expire without heartbeats. */
  readonly expiresAt: Instant | null;
  readonly endsAt: Instant | null;
  /** When an operator revoked it; null if it is not revoked. */
  readonly revokedAt: Instant | null;
  /** Its pool takes it back for a waiting request; null if it does not. */
  readonly notice: Revoked | null;
  readonly claims: readonly ClaimView[];
}

export interface RequestView {
  readonly id: RequestId;
  readonly key: string | undefined;
  readonly holder: string;
  readonly space: SpaceName | undefined;
  readonly priority: number;
  /** Whether it goes ahead of the shares, because its space got nothing for too long. */
  readonly isStarved: boolean;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly ttlMs: number | null;
  readonly queuedAt: Instant;
  readonly items: readonly Item[];
  /** 1 is the first in the queue. With several queues, the position in the longest one. */
  readonly position: number;
  readonly reason: WaitReason;
}

export function leaseView(lease: Lease): LeaseView {
  return {
    id: lease.id,
    key: lease.ask.key,
    holder: lease.ask.holder,
    space: lease.ask.space,
    priority: lease.priority,
    labels: lease.ask.labels,
    ttlMs: lease.ask.ttlMs,
    queuedAt: lease.queuedAt,
    grantedAt: lease.grantedAt,
    seenAt: lease.seenAt,
    heartbeatAt: lease.heartbeatAt,
    delivered: lease.delivered,
    repliesSent: lease.sent,
    expiresAt: lease.expiresAt === never ? null : lease.expiresAt,
    endsAt: lease.endsAt === never ? null : lease.endsAt,
    revokedAt: lease.revoked?.at ?? null,
    notice: lease.notice,
    claims: lease.claims.map(claimView),
  };
}

export function claimView(claim: Claim): ClaimView {
  const { id, resource, fence, heldUntil, amount, parts } = claim;
  return {
    id,
    pool: resource.pool.name,
    resource: resource.name,
    state: amount === null ? resource.state : busyState,
    fence,
    heldUntil: heldUntil === never ? null : heldUntil,
    expiresAt: resource.expiresAt === never ? null : resource.expiresAt,
    labels: resource.labels,
    userData: resource.userData,
    cluster: resource.sharing === "exclusive" && resource.cluster !== null,
    amount,
    parts: parts.length === 0 ? noParts : parts.map(partView),
  };
}

const noParts: readonly PartView[] = [];

function partView({ kind, name, attributes }: Part): PartView {
  return { kind, name, attributes };
}

/** Unless told otherwise as the space that it is of may see it. */
export function requestView(
  request: Request,
  now: Instant,
  reader: Reader = readerOf(request),
): RequestView {
  const { ask } = request;
  return {
    id: request.id,
    key: ask.key,
    holder: ask.holder,
    space: ask.space,
    priority: request.priority,
    isStarved: request.isStarved,
    labels: ask.labels,
    ttlMs: ask.ttlMs,
    queuedAt: request.queuedAt,
    items: ask.items,
    position: position(request),
    reason: waitReason(request, now, reader),
  };
}

function position(waiting: Request): number {
  const request = leaderOf(waiting);
  const inLine = (need: Need) => queueAt(need).countBefore(request) + 1;
  return Math.min(...request.alternatives.map((needs) => Math.max(...needs.map(inLine))));
}
