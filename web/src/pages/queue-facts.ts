/** What stands out in a queue. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { waitCause } from "../parts/event-verbs.ts";

interface QueueFacts {
  readonly oldest: WaitingRequest | undefined;
  /** The reason that most of them have. */
  readonly cause:
    | { readonly what: string; readonly limit: string | undefined; readonly count: number }
    | undefined;
  readonly late: number;
}

/** `the pace` of a pace, and of one that is reduced: people count them together. */
function kindOf(code: string): string {
  return waitCause(code).split(",")[0] ?? code;
}

/** The limit that is reached. */
export function limitIn({ code, message }: Pick<WaitingRequest["reason"], "code" | "message">) {
  return code === "limit_reached" ? /^(\S+) limit reached/.exec(message)?.[1] : undefined;
}

export function queueFacts(
  requests: readonly WaitingRequest[],
  isLate: (request: WaitingRequest) => boolean,
): QueueFacts {
  const [oldest] = requests.toSorted((a, b) => a.queuedAt.localeCompare(b.queuedAt));
  const causes = new Map<string, { limit: string | undefined; count: number }>();
  for (const { reason } of requests) {
    const limit = limitIn(reason);
    const what = limit === undefined ? kindOf(reason.code) : `the limit ${limit}`;
    causes.set(what, { limit, count: (causes.get(what)?.count ?? 0) + 1 });
  }
  const [most] = [...causes].sort(([a, x], [b, y]) => y.count - x.count || a.localeCompare(b));
  return {
    oldest,
    cause: most && { what: most[0], ...most[1] },
    late: requests.filter(isLate).length,
  };
}

/**
 * The position in the queue of the pool that it waits for. The one of the answer is that in the longest
 * queue, if the request is for several pools.
 */
export function positionThere({
  items,
  position,
  reason,
}: Pick<WaitingRequest, "items" | "position" | "reason">): number {
  if (items.length < 2) return position;
  const ahead = /([\d,]+) ahead$/.exec(reason.message)?.[1];
  if (ahead !== undefined) return Number(ahead.replaceAll(",", "")) + 1;
  return /next in line$/.test(reason.message) ? 1 : position;
}
