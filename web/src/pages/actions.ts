/** The actions of operators, each with sentences that describe its effects. */
import { createElement } from "react";
import type { Lease, Resource, WaitingRequest } from "../../../src/api/schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { berth, serverNowMs } from "../data/berth.ts";
import type { Action } from "../parts/action-button.tsx";
import { DrainImpact, NextInLine } from "./action-impact.tsx";
import { canBeFreed, effectOfDrain } from "./resource-facts.ts";

/** The actions that are possible in the resource's state. */
export function actionsFor(resource: Resource): readonly Action[] {
  const first = resource.drained ? undrain(resource) : drain(resource);
  return [first, ...(canBeFreed(resource) ? [free(resource)] : [])];
}

function drain(resource: Resource): Action {
  const { name, pool } = resource;
  return {
    verb: "Drain",
    title: `Drain ${name}`,
    effects: [effectOfDrain(resource), "It stays out of service until somebody undrains it."],
    impact: createElement(DrainImpact, { pool }),
    run: (audit) => berth.changeResource(name, { drained: true, ...audit }),
    done: `${name} is drained`,
  };
}

function undrain({ name, pool }: Resource): Action {
  return {
    verb: "Undrain",
    title: `Undrain ${name}`,
    effects: [`${name} can be lent again at once. The next request for ${pool} gets it.`],
    run: (audit) => berth.changeResource(name, { drained: false, ...audit }),
    done: `${name} can be lent again`,
  };
}

function free({ name, state, pool }: Resource): Action {
  return {
    verb: "Free",
    title: `Free ${name}`,
    effects: [
      `${name} goes from ${state} to free, and its note is cleared.`,
      `The next request for ${pool} gets it at once, without cleaning.`,
    ],
    run: (audit) => berth.changeResource(name, { state: "free", note: "", ...audit }),
    done: `${name} is free`,
  };
}

export function endLeaseAction({ id, holder, claims, ttl, grantedAt }: Lease): Action {
  const names = claims.map(({ resource }) => resource).join(", ");
  const timeout = ttl === null ? "" : ` (${ttl})`;
  const held = roughDuration(Math.max(0, serverNowMs() - Date.parse(grantedAt)));
  return {
    verb: "End lease",
    title: `End the lease of ${holder}`,
    confirm: "End lease",
    effects: [
      names === ""
        ? `${holder} has released all of it already.`
        : `${holder} loses ${names}, which it has held for ${held}. Its job is notified at once or at its next heartbeat.`,
      `What it holds is lent again when the job releases it, or when the heartbeat timeout${timeout} and the lock delay are over.`,
      "This cannot be undone.",
    ],
    impact: createElement(NextInLine, { pools: claims.map(({ pool }) => pool) }),
    run: (audit) => berth.revoke(id, audit),
    done: `The lease of ${holder} is revoked`,
    harmful: true,
  };
}

/** For a revoked lease whose job is known to have stopped. */
export function freeRevokedAction({ id, holder, claims }: Lease): Action {
  const names = claims.map(({ resource }) => resource).join(", ");
  return {
    verb: "Job is gone",
    title: `The job of ${holder} is gone`,
    confirm: "Job is gone",
    effects: [
      `${names} can be lent again after the lock delay, without waiting for ${holder}.`,
      "If the job still works, two jobs may use the same resource.",
    ],
    run: (audit) => berth.revoke(id, { ...audit, gone: true }),
    done: `The lease of ${holder} has ended`,
    harmful: true,
  };
}

export function removeFromQueueAction({ id, holder, items, position }: WaitingRequest): Action {
  const pools = items.map(({ pool }) => pool).join(", ");
  return {
    verb: "Remove from queue",
    title: `Remove ${holder} from the queue`,
    confirm: "Remove from queue",
    effects: [
      `${holder} loses position ${position} for ${pools}. The requests behind it move up.`,
      "Its job is told that the request was cancelled, and fails unless it asks again. A new request starts at the end of the queue.",
    ],
    run: (audit) => berth.removeFromQueue(id, audit),
    done: `${holder} is removed from the queue`,
    harmful: true,
  };
}
