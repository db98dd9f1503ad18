/** Applies changes of priorities. */
import type { EventOf } from "../model/event.ts";
import { nextRiseAt } from "../model/priority.ts";
import { must, type Request, type State } from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { edit } from "./edit.ts";
import { bucketFor, schedule } from "./indexes.ts";

/** The priority of a request, if it has changed since its arrival. */
export interface Ranked {
  readonly priority: number;
  readonly own?: number;
  readonly at?: Instant;
}

/** Sets when the priority of a waiting request rises next. */
export function scheduleRise(state: State, request: Request): void {
  const at = nextRiseAt(state, request);
  if (at === never) return cancelRise(state, request);
  const timer = { kind: "rise", request: request.id, dueAt: never, heapIndex: -1 } as const;
  const rise = request.rise ?? timer;
  edit(request).rise = rise;
  schedule(state, rise, at);
}

export function cancelRise(state: State, request: Request): void {
  if (request.rise === null) return;
  schedule(state, request.rise, never);
  edit(request).rise = null;
}

export function priorityChanged(
  state: State,
  { id, priority, aged }: EventOf<"priority-changed">,
  at: Instant,
): void {
  const request = must(state.requests.get(id), id);
  const queues = request.inLine
    ? request.needs.map((need) => edit(bucketFor(need.pool, need.state).queue))
    : [];
  // Queues are sorted by priority, so the request leaves them while it changes.
  for (const queue of queues) queue.remove(request);
  edit(request).priority = priority;
  if (aged !== true) edit(request).ownPriority = priority;
  edit(request).rankedAt = at;
  for (const queue of queues) queue.add(request);
  request.cache.evaluated = false;
  scheduleRise(state, request);
}

export function prioritiesDefined(state: State, event: EventOf<"priorities-defined">): void {
  const { classes, ageing } = event;
  edit(state).priorities = { classes, ageing };
  for (const request of state.requests.values()) scheduleRise(state, request);
}
