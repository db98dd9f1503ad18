import { Problem } from "../../api/problem.ts";
import type { BerthClient, HeldLease } from "../../client/berth-client.ts";
import type { KeepAlive } from "../../client/keep-alive.ts";
import { LinkedAbort } from "../../client/linked-abort.ts";
import { pause } from "../../client/pause.ts";
import { cleaningState, dirtyState } from "../../core/model/lifecycle.ts";
import type { CleaningResult } from "./cleaner.ts";
import { type DirtyWork, releaseOptions, type Task } from "./janitor.ts";

/** Events arrive in bursts. One read of the pools serves a whole burst. */
const burstMs = 500;
/** The pools are read at this interval if there are no events or the event stream fails. */
const pollIntervalMs = 30_000;

/** Leases dirty resources from a server over HTTP, for `berth janitor`. */
export class ClientWork implements DirtyWork {
  readonly #client: BerthClient;
  readonly #holder: string;
  /** The number of dirty resources in each pool at the last read. */
  #dirtyCounts: Map<string, number> | undefined;

  constructor(client: BerthClient, holder: string) {
    this.#client = client;
    this.#holder = holder;
  }

  async take(pool: string): Promise<Task | undefined> {
    this.#dirtyCounts ??= await this.#readDirtyCounts();
    const count = this.#dirtyCounts.get(pool) ?? 0;
    if (count === 0) return undefined;
    this.#dirtyCounts.set(pool, count - 1);
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
      this.#dirtyCounts.set(pool, 0);
      return undefined;
    }
  }

  /** The next `take` reads the counts again. */
  async waitForDirty(signal: AbortSignal): Promise<void> {
    const woken = new LinkedAbort(signal);
    const timer = setTimeout(() => woken.abort(), pollIntervalMs);
    try {
      // The loop ends without an error when the timer aborts it.
      for await (const { type } of this.#client.events({ signal: woken.signal })) {
        if (/^(?:lease|claim)-ended$|^resource-/.test(type)) break;
      }
      await pause(burstMs, signal);
    } catch {
      await pause(pollIntervalMs, signal).catch(() => {});
    } finally {
      clearTimeout(timer);
      woken.unlink();
      woken.abort();
      this.#dirtyCounts = undefined;
    }
  }

  async #readDirtyCounts(): Promise<Map<string, number>> {
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

  async finish(result: CleaningResult): Promise<void> {
    this.#alive.stop();
    if (this.lost.aborted) return;
    // If the release fails, the lease expires by itself, and the resource is dirty again.
    await this.#client.release(this.#lease, releaseOptions(result)).catch(() => {});
  }
}
