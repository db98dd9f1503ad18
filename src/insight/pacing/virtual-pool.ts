/**
 * One pool of the real core on a virtual clock: requests come at given times, everything else
 * happens when it is due.
 */
import { emptyState } from "../../core/apply/create.ts";
import type { Command } from "../../core/model/command.ts";
import type { BrokerEvent } from "../../core/model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { defaultPolicy, type PoolPolicy } from "../../core/model/policy.ts";
import type { Instant } from "../../core/model/time.ts";
import { VirtualClock } from "../virtual-clock/virtual-clock.ts";

export const poolName = "install" as PoolName;
/** Longer than any scenario: nobody is lost for being silent in one. */
const ttlMs = 30 * 86_400_000;

type Listener = (event: BrokerEvent, at: Instant) => void;

export class VirtualPool {
  readonly #clock: VirtualClock;

  constructor(size: number, policy: Partial<PoolPolicy>, listener: Listener) {
    this.#clock = new VirtualClock(emptyState(), 0 as Instant, (events, at) => {
      for (const event of events) {
        listener(event, at);
        // A lease whose only claim the server has taken back has nothing left to keep alive.
        if (event.type === "claim-ended") this.#clock.do({ type: "release", id: event.id });
      }
    });
    const members = Array.from({ length: size }, (_, index) => ({
      name: `${poolName}-${index + 1}` as ResourceName,
      labels: {},
    }));
    const whole = { ...defaultPolicy, ttlMs, ...policy };
    this.#clock.do({ type: "configure", pools: [{ name: poolName, policy: whole, members }] });
  }

  /** How many wait. */
  get waiting(): number {
    return this.#clock.state.requests.size;
  }

  ask(id: string, priority = 0): void {
    const items = [{ pool: poolName, count: 1 }];
    const ask = { holder: id, key: id, items, priority, ttlMs };
    this.#clock.do({ type: "acquire", id: id as RequestId, ask, waitMs: ttlMs });
  }

  plan(at: number, command: Command): void {
    this.#clock.plan(at as Instant, command);
  }

  /** When something happens next. */
  get nextAt(): number {
    return this.#clock.nextAt;
  }

  /** Lets time pass up to an instant, with all that happens on the way and then. */
  passTo(at: number): void {
    this.#clock.passTo(at as Instant);
  }

  /** Until nothing but the ttl of the leases is due any more. */
  passAll(): void {
    while (this.nextAt < ttlMs) this.passTo(this.nextAt);
  }
}
