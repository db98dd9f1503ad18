import type { Broker } from "../../broker/broker.ts";
import { newRequestId } from "../../broker/lease-identity.ts";
import { untilEvent } from "../../broker/until-event.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { PoolName, RequestId } from "../../core/model/ids.ts";
import { cleaningState, dirtyState } from "../../core/model/lifecycle.ts";
import type { Origin } from "../../core/model/origin.ts";
import { workerLease } from "../worker-lease.ts";
import type { CleaningResult } from "./cleaner.ts";
import { type DirtyWork, releaseOptions, type Task } from "./janitor.ts";

export const janitorName = "berth-janitor";

/** The shortest time between two tries while the journal is not writable. */
const retryMs = 2_000;

/** Dirty resources of the broker in this process. */
export class BrokerWork implements DirtyWork {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async take(name: string): Promise<Task | undefined> {
    const broker = this.#broker;
    const pool = name as PoolName;
    const hasDirty = await broker.read(
      ({ pools }) => (pools.get(pool)?.buckets.get(dirtyState)?.idle.size ?? 0) > 0,
    );
    if (!hasDirty) return undefined;
    const item = { pool, count: 1, state: dirtyState, into: cleaningState };
    const outcome = await broker.submit(
      {
        type: "acquire",
        id: newRequestId(broker.now()),
        ask: { holder: janitorName, items: [item], ttlMs: workerLease.ttlMs },
        waitMs: 0,
        nowOnly: true,
      },
      from,
    );
    const claim = outcome.type === "granted" ? outcome.lease.claims[0] : undefined;
    if (outcome.type !== "granted" || claim === undefined) return undefined;
    const { resource, userData } = claim;
    return new BrokerTask(broker, outcome.lease.id, { pool: name, resource, userData });
  }

  /** The end of a cooldown is an event too. */
  waitForDirty(signal: AbortSignal): Promise<void> {
    return untilEvent(this.#broker, makesDirty, { atMostMs: retryMs, signal });
  }
}

/** Whether the event may have made a resource dirty that can be acquired at once. */
function makesDirty(event: DurableEvent): boolean {
  switch (event.type) {
    case "lease-ended":
      return event.back.some(({ state, restsUntil }) => isDirty(state) && restsUntil === undefined);
    case "claim-ended":
      return isDirty(event.back.state) && event.back.restsUntil === undefined;
    case "resource-rested":
      return isDirty(event.state);
    case "resource-changed":
      return isDirty(event.state) || event.drained === false;
    case "resource-added":
      return isDirty(event.state);
    default:
      return false;
  }
}

function isDirty(state: string | undefined): boolean {
  return state === dirtyState;
}

const from: Origin = { way: "worker", by: janitorName };

class BrokerTask implements Task {
  readonly pool: string;
  readonly resource: string;
  readonly userData: Readonly<Record<string, string>>;
  readonly lost: AbortSignal;
  readonly #broker: Broker;
  readonly #id: RequestId;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(
    broker: Broker,
    id: RequestId,
    { pool, resource, userData }: Pick<Task, "pool" | "resource" | "userData">,
  ) {
    this.#broker = broker;
    this.#id = id;
    this.pool = pool;
    this.resource = resource;
    this.userData = userData;
    const lost = new AbortController();
    this.lost = lost.signal;
    const beat = async (): Promise<void> => {
      const outcome = await broker.submit({ type: "renew", id });
      if (outcome.type === "refused") lost.abort();
    };
    this.#heartbeat = setInterval(() => void beat().catch(() => {}), workerLease.heartbeatMs);
  }

  async finish(result: CleaningResult): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.lost.aborted) return;
    // If the release fails, the lease expires by itself, and the resource is dirty again.
    await this.#broker
      .submit({ type: "release", id: this.#id, ...releaseOptions(result) }, from)
      .catch(() => {});
  }
}
