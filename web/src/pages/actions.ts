/** What operators can do here, and what each will bring about, in words. */
import type { Lease, Resource, WaitingRequest } from "../../../src/api/schemas.ts";
import { berth } from "../data/berth.ts";
import type { Action } from "../parts/action-button.tsx";

/** What fits the state that it is in. */
export function actionsFor(resource: Resource): readonly Action[] {
  const { lease, drained, state } = resource;
  const canBeFreed = lease === null && !drained && state !== "free";
  return [drained ? undrain(resource) : drain(resource), ...(canBeFreed ? [free(resource)] : [])];
}

function drain({ name, lease, pool }: Resource): Action {
  return {
    verb: "Drain",
    title: `Drain ${name}`,
    effects: [
      lease === null
        ? `${name} is not lent any more from now on.`
        : `${lease.holder} keeps ${name} until it gives it back; then it is not lent again.`,
      `${pool} has one less to lend until somebody undrains it.`,
    ],
    run: (because) => berth.changeResource(name, { drained: true, ...because }),
    done: `${name} is drained`,
  };
}

function undrain({ name, pool }: Resource): Action {
  return {
    verb: "Undrain",
    title: `Undrain ${name}`,
    effects: [`${name} can be lent again at once; whoever is next in line for ${pool} gets it.`],
    run: (because) => berth.changeResource(name, { drained: false, ...because }),
    done: `${name} is lent again`,
  };
}

function free({ name, state, pool }: Resource): Action {
  return {
    verb: "Free",
    title: `Free ${name}`,
    effects: [
      `${name} goes from ${state} to free, and its note is cleared.`,
      `Whoever is next in line for ${pool} gets it at once, as it is: nothing is cleaned first.`,
    ],
    run: (because) => berth.changeResource(name, { state: "free", note: "", ...because }),
    done: `${name} is free`,
  };
}

export function endLease({ id, holder, claims }: Lease): Action {
  const names = claims.map(({ resource }) => resource).join(", ");
  return {
    verb: "End lease",
    title: `End the lease of ${holder}`,
    effects: [
      `${holder} loses ${names} now. Its job is told with its next heartbeat and should stop.`,
      "The resources go where their pool's onExpire says, after the lock-delay.",
      "This cannot be taken back.",
    ],
    run: (because) => berth.revoke(id, because),
    done: `The lease of ${holder} has ended`,
    harmful: true,
  };
}

export function leaveQueue({ id, holder, items, position }: WaitingRequest): Action {
  const pools = items.map(({ pool }) => pool).join(", ");
  return {
    verb: "Remove from queue",
    title: `Take ${holder} out of the queue`,
    effects: [
      `${holder} loses position ${position} for ${pools}; those behind it move up.`,
      "Its job is told that its request was cancelled. It can ask again, at the end of the line.",
    ],
    run: (because) => berth.removeFromQueue(id, because),
    done: `${holder} has left the queue`,
    harmful: true,
  };
}
