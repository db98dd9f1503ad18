/** The classes of priorities, and changes of the priority of a waiting request. */
import { requestView } from "../explain/view.ts";
import type { Ask, Command } from "../model/command.ts";
import { nearest } from "../model/nearest.ts";
import { type Outcome, type Refusal, refused } from "../model/outcome.ts";
import { classPriority } from "../model/priority.ts";
import type { State } from "../model/state.ts";
import { requestNotFound } from "./not-found.ts";
import { emit, type Turn } from "./turn.ts";

/** Changes the priority of a waiting request, and of all members of its gang. */
export function bump(turn: Turn, command: Extract<Command, { type: "bump" }>): Outcome {
  const { id, reason } = command;
  const { state, now } = turn;
  const request = state.requests.get(id);
  if (request === undefined) {
    return refused(
      state.leases.has(id) ? { code: "request_granted", id } : requestNotFound(state, id),
    );
  }
  const priority =
    typeof command.priority === "number"
      ? command.priority
      : classPriority(state.priorities, command.priority);
  if (priority === undefined) return refused(unknownClass(state, String(command.priority)));
  for (const member of request.gang?.members ?? [request]) {
    if (member.priority === priority && member.ownPriority === priority) continue;
    emit(turn, { type: "priority-changed", id: member.id, priority, reason });
  }
  return { type: "waiting", request: requestView(request, now) };
}

export function refuseClass(state: State, { priorityClass: name }: Ask): Refusal | undefined {
  if (name === undefined || classPriority(state.priorities, name) !== undefined) return undefined;
  return unknownClass(state, name);
}

function unknownClass({ priorities }: State, name: string): Refusal {
  const known = Object.keys(priorities.classes);
  const meant = nearest(name, known);
  const hint = meant === undefined ? undefined : { nearest: meant };
  return { code: "priority_unknown", name, known, ...hint };
}

/** The ask with the number of its class. */
export function withPriority({ priorities }: State, ask: Ask): Ask {
  if (ask.priorityClass === undefined) return ask;
  const priority = classPriority(priorities, ask.priorityClass);
  return priority === undefined ? ask : { ...ask, priority };
}
