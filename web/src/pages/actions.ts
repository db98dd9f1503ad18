/** The actions of operators, each with sentences that describe its effects. */
import { createElement } from "react";
import type { Lease, Resource, WaitingRequest } from "../../../src/api/schemas.ts";
import { BerthUnreachable } from "../../../src/client/errors.ts";
import { berth } from "../data/berth.ts";
import { learnAnswer } from "../data/query.ts";
import { oneResource } from "../data/questions.ts";
import type { Action } from "../parts/action-button.tsx";
import {
  BackImpact,
  DrainImpact,
  LentAgain,
  LentWithoutWait,
  Loss,
  NextInLine,
} from "./action-impact.tsx";
import { canBeCleaned, canBeFreed, effectOfDrain, isHeld } from "./resource-facts.ts";

/** The actions that are possible in the resource's state. */
export function actionsFor(resource: Resource): readonly Action[] {
  const first = resource.drained ? undrain(resource) : drain(resource);
  const again = canBeCleaned(resource) ? [cleanAgain(resource)] : [];
  return [first, ...again, ...(canBeFreed(resource) ? [free(resource)] : [])];
}

function cleanAgain({ name }: Resource): Action {
  return {
    verb: "Clean again",
    title: `Clean ${name} again`,
    effects: [
      `The next cleaner takes ${name}. If it succeeds, ${name} is free; else it is quarantined again.`,
      "Its note is cleared.",
    ],
    isUndo: true,
    run: (audit) => change(name, { state: "dirty", note: "", ...audit }),
    done: `${name} is to be cleaned`,
  };
}

function drain(resource: Resource): Action {
  const { name, pool } = resource;
  return {
    verb: "Drain",
    title: `Drain ${name}`,
    effects: [effectOfDrain(resource)],
    impact: createElement(DrainImpact, { pool }),
    run: (audit) => change(name, { drained: true, ...audit }),
    done: isHeld(resource)
      ? `${name} is drained: not lent again after its release`
      : `${name} is drained`,
  };
}

/** The same action on all of a group, with one reason; none if it is not possible for all. */
export function actionForAll(resources: readonly Resource[]): Action | undefined {
  const count = resources.length;
  const names = resources.map(({ name }) => name);
  if (resources.every(({ drained }) => drained)) {
    return {
      verb: `Undrain all ${count}`,
      title: `Undrain all ${count}`,
      effects: [`${names.join(", ")} can be lent again at once.`],
      isUndo: true,
      run: (audit) => changeAll(names, { drained: false, ...audit }),
      done: `${count} resources can be lent again`,
    };
  }
  if (!resources.every((one) => one.state === "quarantined" && canBeFreed(one))) return undefined;
  return {
    verb: `Return all ${count} to service`,
    title: `Return all ${count} to service`,
    effects: [
      `${names.join(", ")} go from quarantined to free, and their notes are cleared.`,
      "They can be lent at once, without cleaning.",
    ],
    isUndo: true,
    run: (audit) => changeAll(names, { state: "free", note: "", ...audit }),
    done: `${count} resources are back in service`,
  };
}

function undrain({ name, pool, lease }: Resource): Action {
  return {
    verb: "Undrain",
    title: `Undrain ${name}`,
    effects: [
      lease === null
        ? `${name} can be lent again at once.`
        : `${name} can be lent again when ${lease.holder} has released it.`,
    ],
    impact: createElement(BackImpact, { pool }),
    isUndo: true,
    run: (audit) => change(name, { drained: false, ...audit }),
    done: `${name} can be lent again`,
  };
}

function free({ name, state, pool }: Resource): Action {
  return {
    verb: "Return to service",
    title: `Return ${name} to service`,
    effects: [
      `${name} goes from ${state} to free, and its note is cleared.`,
      "It can be lent at once, without cleaning.",
    ],
    impact: createElement(BackImpact, { pool }),
    isUndo: true,
    run: (audit) => change(name, { state: "free", note: "", ...audit }),
    done: `${name} is back in service`,
  };
}

/** All are tried. To repeat it changes only those that failed. */
async function changeAll(names: readonly string[], changes: Changes): Promise<void> {
  const results = await Promise.allSettled(names.map((name) => change(name, changes)));
  const failed = results.flatMap((result, index) =>
    result.status === "fulfilled" ? [] : [`${names[index]}: ${messageOf(result.reason)}`],
  );
  if (failed.length === 0) return;
  // What got no answer may have been done.
  const reasons = results.map((result) => result.status === "rejected" && result.reason);
  const unanswered = reasons.find((reason) => reason instanceof BerthUnreachable);
  if (unanswered !== undefined) throw unanswered;
  throw new Error(`${failed.length} of ${names.length} are not changed. ${failed.join("; ")}`);
}

function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

type Changes = Parameters<typeof berth.changeResource>[1];

/** The views of the resource show the answer at once. */
async function change(name: string, changes: Changes): Promise<void> {
  learnAnswer(oneResource(name), await berth.changeResource(name, changes));
}

export function endLeaseAction(lease: Lease): Action {
  const { id, holder, claims, grantedAt } = lease;
  const names = claims.map(({ resource }) => resource).join(", ");
  const pools = poolsOf(claims);
  return {
    verb: "End lease",
    title: `End the lease of ${holder}`,
    effects: names === "" ? [`${holder} has released all of it already.`] : [],
    impact: [
      names === "" ? null : createElement(Loss, { key: "loss", holder, names, grantedAt }),
      names === "" ? null : createElement(LentAgain, { key: "again", pools, lease }),
      createElement(NextInLine, { key: "next", pools }),
      createElement("li", { key: "end" }, "This cannot be undone."),
    ],
    run: (audit) => berth.revoke(id, audit),
    done: `The lease of ${holder} is ending`,
    harmful: true,
    isOfSpace: true,
  };
}

/** For a lease that an operator has ended, if its job is known to have stopped. */
export function lendAgainAction({ id, holder, claims }: Lease): Action {
  const names = claims.map(({ resource }) => resource).join(", ");
  return {
    verb: "Lend again now",
    title: `Is the job of ${holder} gone`,
    confirm: "It is gone: lend again",
    effects: ["If the job still works, two jobs may use the same resource."],
    impact: createElement(LentWithoutWait, { names, holder, pools: poolsOf(claims) }),
    run: (audit) => berth.revoke(id, { ...audit, gone: true }),
    done: `The lease of ${holder} has ended`,
    harmful: true,
    isOfSpace: true,
  };
}

function poolsOf(claims: Lease["claims"]): readonly string[] {
  return [...new Set(claims.map(({ pool }) => pool))];
}

/** `place`: the position that the view shows. */
export function removeFromQueueAction(
  { id, holder, items, position }: WaitingRequest,
  place = position,
): Action {
  const pools = items.map(({ pool }) => pool).join(", ");
  return {
    verb: "Remove from queue",
    title: `Remove ${holder} from the queue`,
    effects: [
      `${holder} loses position ${place} for ${pools}. The requests behind it move up.`,
      "Its job is told that the request was cancelled, and fails unless it asks again. A new request starts at the end of the queue.",
    ],
    run: (audit) => berth.removeFromQueue(id, audit),
    done: `${holder} is removed from the queue`,
    harmful: true,
    isOfSpace: true,
  };
}
