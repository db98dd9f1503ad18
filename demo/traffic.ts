import { setTimeout as pause } from "node:timers/promises";
import { Tokens } from "../src/broker/lease-identity.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { BerthUnreachable } from "../src/client/errors.ts";
import type { RequestId } from "../src/core/model/ids.ts";
import { Random } from "../src/insight/forecast/random.ts";
import type { Demand } from "../src/insight/what-if/demand.ts";
import { type DayOptions, demandBetween } from "./demand.ts";
import { Pace } from "./pace.ts";
import type { Past } from "./past.ts";
import type { DemoPool } from "./shape.ts";

/** Demand is created this far ahead. */
const aheadMs = 5_000;
/** The time limit for leaving the queue at the end. */
const leaveMs = 1_000;
/** The pause before a retry after no reply. */
const retryMs = 1_000;
/** The lease of a job that dies expires after this. */
const deathTtl = "10s";

/** Jobs that use the server over HTTP, as real jobs do. */
export class Traffic {
  readonly #client: BerthClient;
  readonly #pools: readonly DemoPool[];
  readonly #options: DayOptions;
  readonly #stop = new AbortController();
  readonly #jobs = new Set<Promise<void>>();
  readonly #pace = new Pace();
  asked = 0;
  failed = 0;

  constructor(url: string, pools: readonly DemoPool[], options: DayOptions) {
    this.#client = new BerthClient({ url });
    this.#pools = pools;
    this.#options = options;
  }

  /** Continues the jobs that hold or wait when the simulated past ends. */
  takeOver({ open, secret }: Past): void {
    const tokens = new Tokens(secret);
    for (const { demand, grantedAt } of open) {
      const held = { id: demand.id, token: tokens.of(demand.id as RequestId) };
      this.#run(async () => {
        let since = grantedAt;
        while (since === null) if (await this.#granted(held)) since = Date.now();
        await this.#until(since + (demand.ends[0]?.afterMs ?? 0));
        await this.#client.release(held);
      });
    }
  }

  /**
   * A server that has just started with thousands of jobs may answer late. A job that gave up then
   * would leave its lease unused for a full ttl, and no estimate could foresee that.
   */
  async #granted(held: { readonly id: string; readonly token: string }): Promise<boolean> {
    try {
      return (await this.#client.request(held, { waitMs: 30_000, signal: this.#signal })).granted;
    } catch (error) {
      if (!(error instanceof BerthUnreachable)) throw error;
      await pause(retryMs, undefined, { signal: this.#signal });
      return false;
    }
  }

  /** Runs until it is stopped. */
  async flow(from: number): Promise<void> {
    for (let start = from; !this.#signal.aborted; start += aheadMs) {
      for (const demand of demandBetween(this.#pools, start, start + aheadMs, this.#options)) {
        this.#run(() => this.#job(demand));
      }
      await this.#until(start + aheadMs - 500).catch(() => {});
    }
  }

  /** An operator who drains or quarantines a resource now and then, and undoes it later. */
  async tend(): Promise<void> {
    const random = new Random(this.#options.seed);
    while (!this.#signal.aborted) {
      await pause(4_000, undefined, { signal: this.#signal }).catch(() => {});
      if (this.#signal.aborted) return;
      const { name, size } = random.pick(this.#pools);
      const resource = `${name}-${random.between(1, size)}`;
      this.#run(() => this.#mend(resource, random.chance(0.5)));
    }
  }

  /** Waiting jobs get a short time to leave the queue; the rest stops with the server. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.race([Promise.allSettled(this.#jobs), pause(leaveMs)]);
  }

  get #signal(): AbortSignal {
    return this.#stop.signal;
  }

  async #job({ holder, items, priority, askedAt, patienceMs, ends: [end] }: Demand): Promise<void> {
    await this.#until(askedAt);
    if (!this.#pace.mayAsk(Date.now())) return;
    this.asked += 1;
    const dies = end?.forced === true;
    const wanted = items.map(({ pool, count }) => ({ pool, count }));
    const ask = { holder, items: wanted, priority, ...(dies ? { ttl: deathTtl } : undefined) };
    const timeoutMs = patienceMs ?? undefined;
    const onRetry = () => this.#pace.failed(Date.now());
    const options = {
      signal: this.#signal,
      onRetry,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    };
    const lease = await this.#client.acquire(ask, options);
    this.#pace.worked();
    await this.#until(Date.now() + (end?.afterMs ?? 0));
    if (!dies) await this.#client.release(lease);
  }

  async #mend(resource: string, broken: boolean): Promise<void> {
    const by = "demo operator";
    await this.#client.changeResource(
      resource,
      broken
        ? { state: "quarantined", note: "cleaner: 2 volumes are still attached", by }
        : { drained: true, by, reason: "firmware update" },
    );
    await pause(45_000, undefined, { signal: this.#signal });
    const back = broken ? { state: "free" } : { drained: false };
    await this.#client.changeResource(resource, { ...back, by, reason: "mended" });
  }

  async #until(at: number): Promise<void> {
    await pause(Math.max(0, at - Date.now()), undefined, { signal: this.#signal });
  }

  /** A job that cancels, or is stopped at the end, is not an error. */
  #run(work: () => Promise<void>): void {
    const job = work().catch((error: unknown) => {
      const usual = error instanceof Error && /^(AbortError|NotGranted|Problem)$/.test(error.name);
      if (!usual && !this.#signal.aborted) this.failed += 1;
    });
    this.#jobs.add(job);
    void job.finally(() => this.#jobs.delete(job));
  }
}
