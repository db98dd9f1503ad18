/** Applies changes of priorities. */
import type { EventOf } from "../model/event.ts";
import { nextRiseAt } from "../model/priority.ts";
import { must, type Request, type State } from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { edit } from "./edit.ts";
import { schedule } from "./indexes.ts";
import { rerank, wentAhead } from "./starved.ts";

/** The rank of a request, if it has changed since its arrival. */
export interface Ranked {
  readonly priority: number;
  readonly starved?: true;
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
  { id, priority, aged, starved }: EventOf<"priority-changed">,
  at: Instant,
): void {
  const request = must(state.requests.get(id), id);
  rerank(request, () => {
    if (starved === true) edit(request).isStarved = true;
    else edit(request).rankedAt = at;
    edit(request).priority = priority;
    if (aged !== true) edit(request).ownPriority = priority;
  });
  if (starved === true) wentAhead(request, at);
  request.cache.evaluated = false;
  scheduleRise(state, request);
}

export function prioritiesDefined(state: State, event: EventOf<"priorities-defined">): void {
  const { classes, ageing } = event;
  edit(state).priorities = { classes, ageing };
  for (const request of state.requests.values()) scheduleRise(state, request);
}
