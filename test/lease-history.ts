/**
 * Checks what clients saw of a lending server, knowing nothing of how it works. Each resource is lent
 * to one lease at a time, so a history is linearizable if no two leases certainly held the same
 * resource at the same time, and fences grow in the order in which grants certainly happened.
 */

/** One lease as its client saw it. Times are of one clock for all clients. */
export interface SeenLease {
  readonly requestId: string;
  readonly id: string;
  readonly resource: string;
  readonly fence: number;
  /** When the client first asked, and when it first learned of the grant. */
  readonly askedAt: number;
  readonly grantedAt: number;
  /** When the client first sent the release; absent: it never did. */
  readonly releaseSentAt?: number;
  /** When it learned that the release had happened. */
  readonly releasedAt?: number;
}

/** A call about a lease that was answered, and the answer. */
export interface SeenAnswer {
  readonly id: string;
  readonly call: "heartbeat" | "release" | "ask again";
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
  /** The lease in the answer of `ask again`. */
  readonly lease?: string;
}

/** Returns what must not be, in words. No lease may have expired meanwhile. */
export function violations(leases: readonly SeenLease[], answers: readonly SeenAnswer[]): string[] {
  return [
    ...heldTwice(leases),
    ...fencesBack(leases),
    ...madeTwice(leases),
    ...wrong(leases, answers),
  ];
}

/** From when the client knew that it had it until it began to give it back. */
function heldTwice(leases: readonly SeenLease[]): string[] {
  const found: string[] = [];
  for (const [resource, all] of Map.groupBy(leases, (lease) => lease.resource)) {
    const inOrder = all.toSorted((a, b) => a.grantedAt - b.grantedAt);
    for (const [index, next] of inOrder.entries()) {
      for (const before of inOrder.slice(0, index)) {
        const until = before.releaseSentAt ?? Number.POSITIVE_INFINITY;
        if (next.grantedAt < until) {
          found.push(`${resource} was held by ${before.id} and by ${next.id} at the same time`);
        }
      }
    }
  }
  return found;
}

/** A grant that was known before another one was asked for happened before it. */
function fencesBack(leases: readonly SeenLease[]): string[] {
  const found: string[] = [];
  const byGrant = leases.toSorted((a, b) => a.grantedAt - b.grantedAt);
  let [highest, known] = [0, 0];
  for (const lease of leases.toSorted((a, b) => a.askedAt - b.askedAt)) {
    for (; known < byGrant.length && (byGrant[known]?.grantedAt ?? 0) < lease.askedAt; known += 1) {
      highest = Math.max(highest, byGrant[known]?.fence ?? 0);
    }
    if (lease.fence <= highest) found.push(`the fence of ${lease.id} is not above an earlier one`);
  }
  const fences = new Set(leases.map(({ fence }) => fence));
  if (fences.size < leases.length) found.push("two leases have the same fence");
  return found;
}

function madeTwice(leases: readonly SeenLease[]): string[] {
  return [...Map.groupBy(leases, ({ requestId }) => requestId)].flatMap(([requestId, made]) => {
    const ids = new Set(made.map(({ id }) => id));
    return ids.size === 1 ? [] : [`the request ${requestId} became ${ids.size} leases`];
  });
}

/** A lease is known from its grant to its release, and unknown after it. */
function wrong(leases: readonly SeenLease[], answers: readonly SeenAnswer[]): string[] {
  const byId = new Map(leases.map((lease) => [lease.id, lease]));
  return answers.flatMap(({ id, call, sentAt, answeredAt, status, lease: other }) => {
    const lease = byId.get(id);
    if (lease === undefined) return [`an answer is about the unknown lease ${id}`];
    if (call === "ask again" && other !== id) return [`asking again for ${id} gave ${other}`];
    const isHeld = answeredAt < (lease.releaseSentAt ?? Number.POSITIVE_INFINITY);
    if (call === "heartbeat" && isHeld && status !== 200) {
      return [`the lease ${id} was lost: its heartbeat was answered ${status}`];
    }
    const isOver = sentAt > (lease.releasedAt ?? Number.POSITIVE_INFINITY);
    if (call === "heartbeat" && isOver && status === 200) {
      return [`the lease ${id} had a heartbeat after its release`];
    }
    return [];
  });
}
