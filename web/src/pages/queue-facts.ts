/** What stands out in a queue. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";

interface QueueFacts {
  readonly oldest: WaitingRequest | undefined;
  /** The reason that most of them have. */
  readonly cause: { readonly code: string; readonly count: number } | undefined;
  readonly late: number;
}

export function queueFacts(
  requests: readonly WaitingRequest[],
  isLate: (request: WaitingRequest) => boolean,
): QueueFacts {
  const [oldest] = requests.toSorted((a, b) => a.queuedAt.localeCompare(b.queuedAt));
  const counts = new Map<string, number>();
  for (const { reason } of requests) counts.set(reason.code, (counts.get(reason.code) ?? 0) + 1);
  const [most] = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  return {
    oldest,
    cause: most && { code: most[0], count: most[1] },
    late: requests.filter(isLate).length,
  };
}
