/**
 * One pool of the real core on a virtual clock: requests come at given times, everything else
 * happens when it is due. Nothing here decides who is lent what.
 */

import { emptyState } from "../../core/apply/create.ts";
import { decide, nextDueAt } from "../../core/decide/decide.ts";
import type { Command } from "../../core/model/command.ts";
import type { BrokerEvent } from "../../core/model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { defaultPolicy, type PoolPolicy } from "../../core/model/policy.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";

export const poolName = "install" as PoolName;
/** Longer than any scenario: nobody is lost for being silent in one. */
const ttlMs = 30 * 86_400_000;

export class VirtualPool {
  readonly state: State = emptyState();
  readonly #listener: (event: BrokerEvent, at: Instant) => void;
  now = 0 as Instant;

  constructor(
    size: number,
    policy: Partial<PoolPolicy>,
    listener: (event: BrokerEvent, at: Instant) => void,
  ) {
    this.#listener = listener;
    const members = Array.from({ length: size }, (_, index) => ({
      name: `${poolName}-${index + 1}` as ResourceName,
      labels: {},
    }));
    const whole = { ...defaultPolicy, ttlMs, ...policy };
    this.do({ type: "configure", pools: [{ name: poolName, policy: whole, members }] });
  }

  do(command: Command): void {
    const { events } = decide(this.state, command, this.now);
    for (const event of events) this.#told(event);
  }

  /** A lease whose only claim the server has taken back has nothing left to keep alive. */
  #told(event: BrokerEvent): void {
    this.#listener(event, this.now);
    if (event.type === "claim-ended") this.do({ type: "release", id: event.id });
  }

  ask(id: string, priority = 0): void {
    const items = [{ pool: poolName, count: 1 }];
    const ask = { holder: id, key: id, items, priority, ttlMs };
    this.do({ type: "acquire", id: id as RequestId, ask, waitMs: ttlMs });
  }

  /** When something is next due by itself. */
  get dueAt(): number {
    return nextDueAt(this.state) ?? Number.POSITIVE_INFINITY;
  }

  /** Lets time pass up to an instant; what is due on the way, and then, happens. */
  passTo(at: number): void {
    while (this.dueAt <= at) {
      this.now = Math.max(this.now, this.dueAt) as Instant;
      this.do({ type: "tick" });
    }
    this.now = at as Instant;
  }

  /** Until nothing but the ttl of the leases is due any more. */
  passAll(): void {
    while (this.dueAt < ttlMs) this.passTo(this.dueAt);
  }
}
