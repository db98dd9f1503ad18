/** What stands out in a queue. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { waitCause } from "../parts/event-verbs.ts";

interface QueueFacts {
  readonly oldest: WaitingRequest | undefined;
  /** The reason that most of them have. */
  readonly cause: { readonly what: string; readonly count: number } | undefined;
  readonly late: number;
}

/** `the pace` of a pace, and of one that is reduced: people count them together. */
function kindOf(code: string): string {
  return waitCause(code).split(",")[0] ?? code;
}

export function queueFacts(
  requests: readonly WaitingRequest[],
  isLate: (request: WaitingRequest) => boolean,
): QueueFacts {
  const [oldest] = requests.toSorted((a, b) => a.queuedAt.localeCompare(b.queuedAt));
  const counts = new Map<string, number>();
  for (const { reason } of requests) {
    const what = kindOf(reason.code);
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  return {
    oldest,
    cause: most && { what: most[0], count: most[1] },
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
