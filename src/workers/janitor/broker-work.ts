import type { Broker } from "../../broker/broker.ts";
import { newRequestId } from "../../broker/request-id.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { PoolName, RequestId } from "../../core/model/ids.ts";
import { cleaningState, dirtyState } from "../../core/model/lifecycle.ts";
import type { Recorded } from "../../journal/journal.ts";
import type { Cleaned } from "./cleaner.ts";
import { type DirtyWork, returnOf, type Task } from "./janitor.ts";

export const janitorName = "berth-janitor";

/** As long as it may take to notice that the janitor is gone. */
const ttlMs = 60_000;
const heartbeatMs = 15_000;
/** Trouble with the journal passes; until then nothing is asked for more often than this. */
const pauseMs = 2_000;

/** Dirty resources of a broker in this process. */
export class BrokerWork implements DirtyWork {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  async take(name: string): Promise<Task | undefined> {
    const broker = this.#broker;
    const pool = name as PoolName;
    const there = await broker.look(
      ({ pools }) => (pools.get(pool)?.buckets.get(dirtyState)?.idle.size ?? 0) > 0,
    );
    if (!there) return undefined;
    const item = { pool, count: 1, state: dirtyState, into: cleaningState };
    const outcome = await broker.submit({
      type: "acquire",
      id: newRequestId(broker.now()),
      ask: { holder: janitorName, items: [item], ttlMs },
      waitMs: 0,
      nowOnly: true,
    });
    const claim = outcome.type === "granted" ? outcome.lease.claims[0] : undefined;
    if (outcome.type !== "granted" || claim === undefined) return undefined;
    const { resource, userData } = claim;
    return new BrokerTask(broker, outcome.lease.id, { pool: name, resource, userData });
  }

  untilDirty(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        forget();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const committed = ({ events }: Recorded): void => {
        if (events.some(soils)) end();
      };
      const forget = this.#broker.listen({ committed });
      // What rests comes back with an event too; this is for a journal that could not be written.
      const timer = setTimeout(end, pauseMs);
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
    });
  }
}

/** Whether it may have made something dirty that can be taken at once. */
function soils(event: DurableEvent): boolean {
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
    this.#heartbeat = setInterval(() => void beat().catch(() => {}), heartbeatMs);
  }

  async finish(cleaned: Cleaned): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.lost.aborted) return;
    // If it cannot be written down now, the lease runs out by itself, and it is dirty again.
    await this.#broker
      .submit({ type: "release", id: this.#id, ...returnOf(cleaned) })
      .catch(() => {});
  }
}
