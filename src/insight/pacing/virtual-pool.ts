/**
 * One pool of the real core on a virtual clock. Requests arrive at given times; all else happens at
 * its deadline.
 */
import { emptyState } from "../../core/apply/create.ts";
import type { Command } from "../../core/model/command.ts";
import type { BrokerEvent } from "../../core/model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { defaultPolicy, type PoolPolicy } from "../../core/model/policy.ts";
import type { Instant } from "../../core/model/time.ts";
import { VirtualClock } from "../virtual-clock/virtual-clock.ts";

export const poolName = "install" as PoolName;
/** Longer than any scenario, so that no lease expires in one. */
const ttlMs = 30 * 86_400_000;

type Listener = (event: BrokerEvent, at: Instant) => void;

export class VirtualPool {
  readonly #clock: VirtualClock;

  constructor(size: number, policy: Partial<PoolPolicy>, listener: Listener) {
    this.#clock = new VirtualClock(emptyState(), 0 as Instant, (events, at) => {
      for (const event of events) {
        listener(event, at);
        // The server has ended the only claim of the lease, so the empty lease is released.
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

  /** The number of waiting requests. */
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

  /** The time of the next event. */
  get nextAt(): number {
    return this.#clock.nextAt;
  }

  /** Advances the time to an instant, with all events up to and including it. */
  passTo(at: number): void {
    this.#clock.passTo(at as Instant);
  }

  /** Advances until only the ttl of leases is left. */
  passAll(): void {
    while (this.nextAt < ttlMs) this.passTo(this.nextAt);
  }
}
