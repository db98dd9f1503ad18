/** Shared helpers for the tests of gates. */
import { type Lending, operator, poll } from "../decide/lending.suite.ts";
import type { WaitReason } from "../explain/wait-reason.ts";
import type { Command, Report } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import type { PacePolicy, PoolPolicy } from "../model/policy.ts";
import { must, type Pool, type State } from "../model/state.ts";

/** A policy with a pace of one grant at a time, without jitter. */
export const every = (everyMs: PacePolicy["everyMs"], more: Partial<PacePolicy> = {}) => ({
  pace: { everyMs, burst: 1, jitter: 0, ...more },
});

/** The policy of a pool below another. */
export const under = (parent: string, more: Partial<PoolPolicy> = {}) => ({
  parent: parent as PoolName,
  ...more,
});

export const pin = (name: string, rate: number | null): Command => {
  return { type: "pin", pool: name as PoolName, rate, reason: operator };
};

export const signal = (id: string, more: Partial<Report> & { pool?: PoolName } = {}): Command => {
  return { type: "signal", id: id as RequestId, throttled: true, ...more };
};

export function poolIn({ pools }: State, name: string): Pool {
  return must(pools.get(name as PoolName), name);
}

/** Returns why a request waits; undefined if it does not wait. */
export function reasonOf(lending: Lending, id: string): WaitReason | undefined {
  const outcome = lending.outcome(poll(id));
  return outcome.type === "waiting" ? outcome.request.reason : undefined;
}
