/** Helpers for tests: pools, asks, and a core that the test drives. */

import { emptyState } from "../apply/create.ts";
import type { Ask, Command, Item } from "../model/command.ts";
import type { BrokerEvent } from "../model/event.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { freeState } from "../model/lifecycle.ts";
import { defaultPolicy, type PoolPolicy, type PoolSpec } from "../model/policy.ts";
import { queueAt, type Resource, type SharedResource, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { type Decision, decide, nextDueAt } from "./decide.ts";

/**
 * `pool("aws", 2)` has aws-1 and aws-2; a list of names has these. The default has no lock-delay.
 */
export function pool(
  name: string,
  members: number | readonly string[],
  policy: Partial<PoolPolicy> = {},
): PoolSpec {
  const names =
    typeof members === "number"
      ? Array.from({ length: members }, (_, index) => `${name}-${index + 1}`)
      : members;
  return {
    name: name as PoolName,
    policy: { ...defaultPolicy, lockDelayMs: 0, ...policy },
    members: names.map((member) => ({ name: member as ResourceName, labels: {} })),
  };
}

/** `items("aws", "gcp:2", "aws|gcp:2")`; the last asks for two of either pool. */
export function items(...texts: readonly string[]): Item[] {
  return texts.map((text) => {
    const [names = "", count] = text.split(":");
    const [name, ...others] = names.split("|") as PoolName[];
    const anyOf = others.length === 0 ? undefined : { anyOf: others };
    return { pool: name as PoolName, count: Number(count ?? 1), ...anyOf };
  });
}

type AskOptions = Partial<Omit<Ask, "items">> & { readonly waitMs?: number };

/** Asks for one of a pool, or for `"aws gcp:2"`; the holder is named after the id. */
export function acquire(id: string, wanted: string, options: AskOptions = {}): Command {
  const { waitMs = 0, ...rest } = options;
  const ask: Ask = { holder: `job-${id}`, items: items(...wanted.split(" ")), ...rest };
  return { type: "acquire", id: id as RequestId, ask, waitMs };
}

/** Leases one dirty resource of a pool as `cleaning`, as the server's janitor does. */
export function clean(id: string, name = "aws"): Command {
  const item = { pool: name as PoolName, count: 1, state: "dirty", into: "cleaning" };
  const ask: Ask = { holder: "berth-janitor", items: [item], ttlMs: 86_400_000 };
  return { type: "acquire", id: id as RequestId, ask, waitMs: 0, nowOnly: true };
}

interface ReleaseOptions {
  readonly claim?: string;
  readonly state?: string;
  readonly asHolder?: true;
}

export function release(id: string, options: ReleaseOptions = {}): Command {
  const { claim, state, asHolder } = options;
  return {
    type: "release",
    id: id as RequestId,
    ...(claim === undefined ? undefined : { claim: claim as ClaimId }),
    ...(state === undefined ? undefined : { state }),
    ...(asHolder && { asHolder }),
  };
}

export const operator = { by: "ann", why: "test" };

export function change(
  resource: string,
  wanted: Extract<Command, { type: "change-resource" }>["change"],
): Command {
  return {
    type: "change-resource",
    resource: resource as ResourceName,
    change: wanted,
    reason: operator,
  };
}

export const renew = (id: string): Command => ({ type: "renew", id: id as RequestId });
export const leave = (id: string): Command => ({
  type: "leave",
  id: id as RequestId,
  why: "cancelled",
});
export const revoke = (id: string): Command => ({
  type: "revoke",
  id: id as RequestId,
  reason: operator,
});
export const poll = (id: string, waitMs = 0): Command => ({
  type: "keep-waiting",
  id: id as RequestId,
  waitMs,
});

type Decided = Pick<Decision, "events" | "outcome">;

/** A core with a test clock. Runs due ticks before every command, as the broker does. */
export class Lending {
  readonly state: State = emptyState();
  readonly events: BrokerEvent[] = [];
  now = 0 as Instant;

  constructor(...pools: readonly PoolSpec[]) {
    this.do({ type: "configure", pools });
  }

  /** Returns the events and the outcome of one command. */
  do(command: Command): Decided {
    const { events, outcome } = decide(this.state, command, this.now);
    this.events.push(...events);
    return { events, outcome };
  }

  /** Runs commands in order and returns the outcome of the last one. */
  outcome(...commands: readonly Command[]): Decision["outcome"] {
    const outcomes = commands.map((command) => this.do(command).outcome);
    const last = outcomes.at(-1);
    if (last === undefined) throw new Error("Cannot return an outcome: there are no commands");
    return last;
  }

  configure(...pools: readonly PoolSpec[]): Decided {
    return this.do({ type: "configure", pools });
  }

  /** Sets the clock and runs a tick. */
  tickAt(now: number): Decided {
    this.now = now as Instant;
    return this.do({ type: "tick" });
  }

  /** The resources of a lease; undefined if there is no such lease. */
  held(id: string): string[] | undefined {
    return this.state.leases.get(id as RequestId)?.claims.map(({ resource }) => resource.name);
  }

  /** The requests that wait for a pool, in queue order. */
  line(name: string): string[] {
    const found = this.state.pools.get(name as PoolName);
    return found === undefined
      ? []
      : [...queueAt({ pool: found, state: freeState })].map(({ id }) => id);
  }

  resource(name: string): Resource {
    const found = this.state.resources.get(name as ResourceName);
    if (found === undefined) throw new Error(`Cannot find the resource ${name}`);
    return found;
  }

  shared(name: string): SharedResource {
    const resource = this.resource(name);
    if (resource.sharing === "exclusive") throw new Error(`Cannot share ${name}: it is exclusive`);
    return resource;
  }

  /** How an ended request or lease ended. */
  end(id: string): string | undefined {
    return this.state.ended.get(id as RequestId)?.how;
  }
}

/** The time of each grant, by lease id. */
export function grants(lending: Lending): Record<string, number> {
  const leases = [...lending.state.leases.values()];
  return Object.fromEntries(leases.map((lease) => [lease.id, lease.grantedAt]));
}

/** Runs every tick that is due up to `end`. */
export function runTo(lending: Lending, end: number): void {
  for (let due = nextDueAt(lending.state); due !== undefined && due <= end; ) {
    lending.tickAt(due);
    due = nextDueAt(lending.state);
  }
  lending.now = end as Instant;
}
