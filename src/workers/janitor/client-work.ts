import { Problem } from "../../api/problem.ts";
import type { BerthClient, HeldLease } from "../../client/berth-client.ts";
import type { KeepAlive } from "../../client/keep-alive.ts";
import { LinkedAbort } from "../../client/linked-abort.ts";
import { pause } from "../../client/pause.ts";
import { cleaningState, dirtyState } from "../../core/model/lifecycle.ts";
import type { Cleaned } from "./cleaner.ts";
import { type DirtyWork, returnOf, type Task } from "./janitor.ts";

/** Events come in bursts; one look serves for all of a burst. */
const burstMs = 500;
/** Without any event, or without a feed, it looks so often. */
const lookMs = 30_000;

/** Dirty resources of a server elsewhere. */
export class ClientWork implements DirtyWork {
  readonly #client: BerthClient;
  readonly #holder: string;
  /** How many of each pool were dirty at the last look. */
  #dirty: Map<string, number> | undefined;

  constructor(client: BerthClient, holder: string) {
    this.#client = client;
    this.#holder = holder;
  }

  async take(pool: string): Promise<Task | undefined> {
    this.#dirty ??= await this.#look();
    const count = this.#dirty.get(pool) ?? 0;
    if (count === 0) return undefined;
    this.#dirty.set(pool, count - 1);
    try {
      const lease = await this.#client.acquire({
        items: [{ pool, state: dirtyState, into: cleaningState }],
        holder: this.#holder,
        ttl: "60s",
        nowOnly: true,
      });
      return new ClientTask(this.#client, lease, pool);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "none_free") throw error;
      this.#dirty.set(pool, 0);
      return undefined;
    }
  }

  async untilDirty(signal: AbortSignal): Promise<void> {
    const heard = new LinkedAbort(signal);
    const timer = setTimeout(() => heard.abort(), lookMs);
    try {
      for await (const { type } of this.#client.events({ signal: heard.signal })) {
        if (/^(?:lease|claim)-ended$|^resource-/.test(type)) break;
      }
      await pause(burstMs, signal);
    } catch {
      await pause(lookMs, signal).catch(() => {});
    } finally {
      clearTimeout(timer);
      heard.letGo();
      heard.abort();
      this.#dirty = undefined;
    }
  }

  async #look(): Promise<Map<string, number>> {
    const pools = await this.#client.everyPool();
    return new Map(pools.map(({ name, states }) => [name, states[dirtyState] ?? 0]));
  }
}

class ClientTask implements Task {
  readonly pool: string;
  readonly resource: string;
  readonly userData: Readonly<Record<string, string>>;
  readonly #client: BerthClient;
  readonly #lease: HeldLease;
  readonly #alive: KeepAlive;

  constructor(client: BerthClient, lease: HeldLease, pool: string) {
    const [claim] = lease.claims;
    this.pool = pool;
    this.resource = claim?.resource ?? "";
    this.userData = claim?.userData ?? {};
    this.#client = client;
    this.#lease = lease;
    this.#alive = client.keepAlive(lease);
  }

  get lost(): AbortSignal {
    return this.#alive.signal;
  }

  async finish(cleaned: Cleaned): Promise<void> {
    this.#alive.stop();
    if (this.lost.aborted) return;
    // If it cannot be told now, the lease runs out by itself, and it is dirty again.
    await this.#client.release(this.#lease, returnOf(cleaned)).catch(() => {});
  }
}
