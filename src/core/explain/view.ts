/** What the outside may see of the state: plain data with instants, without references. */
import type { Item } from "../model/command.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { busyState } from "../model/lifecycle.ts";
import { type Claim, type Lease, type Need, queueAt, type Request } from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { leaderOf } from "../queue/needs.ts";
import type { Amounts, Attribute, Part } from "../shared/placement/shareable.ts";
import { waitReason } from "./explain.ts";
import type { WaitReason } from "./wait-reason.ts";

export interface ClaimView {
  readonly id: ClaimId;
  readonly pool: PoolName;
  readonly resource: ResourceName;
  readonly state: string;
  readonly fence: number;
  readonly heldUntil: Instant | null;
  /** When it is deleted if nobody wants it, should it come back. */
  readonly expiresAt: Instant | null;
  readonly labels: Readonly<Record<string, string>>;
  /** May hold credentials: only the holder may see it. */
  readonly userData: Readonly<Record<string, string>>;
  /** Where it is a share: how much of each dimension. */
  readonly amount: Amounts | null;
  /** What came with it. Only the holder may see the attributes. */
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
  readonly priority: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly ttlMs: number | null;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  /** When its holder was last heard of. */
  readonly seenAt: Instant;
  /** How often a reply with it was sent, this one included. */
  readonly repliesSent: number;
  /** Null: silence does not end it. */
  readonly expiresAt: Instant | null;
  readonly endsAt: Instant | null;
  /** When an operator took it back; null: its holder may go on. */
  readonly revokedAt: Instant | null;
  readonly claims: readonly ClaimView[];
}

export interface RequestView {
  readonly id: RequestId;
  readonly key: string | undefined;
  readonly holder: string;
  readonly priority: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly ttlMs: number | null;
  readonly queuedAt: Instant;
  readonly items: readonly Item[];
  /** 1 is the head of the line; of several lines, the place in the longest. */
  readonly position: number;
  readonly reason: WaitReason;
}

export function leaseView(lease: Lease): LeaseView {
  return {
    id: lease.id,
    key: lease.ask.key,
    holder: lease.ask.holder,
    priority: lease.ask.priority ?? 0,
    labels: lease.ask.labels,
    ttlMs: lease.ask.ttlMs,
    queuedAt: lease.queuedAt,
    grantedAt: lease.grantedAt,
    seenAt: lease.seenAt,
    repliesSent: lease.sent,
    expiresAt: lease.expiresAt === never ? null : lease.expiresAt,
    endsAt: lease.endsAt === never ? null : lease.endsAt,
    revokedAt: lease.revoked?.at ?? null,
    claims: lease.claims.map(claimView),
  };
}

export function claimView({ id, resource, fence, heldUntil, amount, parts }: Claim): ClaimView {
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
    amount,
    parts: parts.length === 0 ? noParts : parts.map(partView),
  };
}

const noParts: readonly PartView[] = [];

function partView({ kind, name, attributes }: Part): PartView {
  return { kind, name, attributes };
}

export function requestView(request: Request, now: Instant): RequestView {
  const { ask } = request;
  return {
    id: request.id,
    key: ask.key,
    holder: ask.holder,
    priority: request.priority,
    labels: ask.labels,
    ttlMs: ask.ttlMs,
    queuedAt: request.queuedAt,
    items: ask.items,
    position: position(request),
    reason: waitReason(request, now),
  };
}

function position(waiting: Request): number {
  const request = leaderOf(waiting);
  const inLine = (need: Need) => queueAt(need).countBefore(request) + 1;
  return Math.min(...request.alternatives.map((needs) => Math.max(...needs.map(inLine))));
}
