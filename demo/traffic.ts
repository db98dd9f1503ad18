import { setTimeout as pause } from "node:timers/promises";
import { Tokens } from "../src/broker/lease-identity.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { BerthUnreachable } from "../src/client/errors.ts";
import { clientLimits } from "../src/client/limits.ts";
import { retrying } from "../src/client/pause.ts";
import type { RequestId } from "../src/core/model/ids.ts";
import { Random } from "../src/insight/forecast/random.ts";
import type { Demand } from "../src/insight/what-if/demand.ts";
import { BusyMachine } from "./busy-machine.ts";
import type { JobLedger } from "./job-ledger.ts";
import { Pace } from "./pace.ts";
import type { Past } from "./past.ts";
import { type Repair, repairOf } from "./repairs.ts";
import type { DemoPool } from "./shape.ts";
import { showcasePools, throttledPool } from "./showcase.ts";
import { type DemoTokens, spaceNames } from "./spaces.ts";

/** Demand is created this far ahead. */
const aheadMs = 5_000;
/** The time limit for leaving the queue at the end. */
const leaveMs = 1_000;
/** The pause before a retry after no reply. */
const retryMs = 1_000;
/** The lease of a job that dies expires after this. */
const deathTtl = "10s";
/**
 * Plain jobs send no heartbeats: thousands of them would be most of the traffic. The first is due after a third
 * of the timeout, so none of them misses one.
 */
const marginMs = 60_000;
const beatsPerTimeout = 3;
/** The provider of one pool has such bad times, and throttles most of its users then. */
const badTimes = { everyMs: 180_000, forMs: 50_000, share: 0.7 } as const;
/** How often a team takes a resource out of service, and for how long. */
const repairs = { everyMs: 5_000, forMs: 45_000 } as const;
/** How often the demo looks whether the machine keeps up. */
const lookMs = 20_000;

/** A job may be refused, lose its lease in an outage, give up, or be stopped. */
const usualErrors = /^(AbortError|NotGranted|Problem|LeaseLost)$/;

interface Held {
  readonly id: string;
  readonly token: string;
}

export interface TrafficOptions {
  readonly tokens: DemoTokens;
  /** The pools that the operator looks after. */
  readonly pools: readonly DemoPool[];
  readonly seed: number;
  /** How long a day takes. */
  readonly dayMs: number;
  /** Records what the jobs see. */
  readonly ledger?: JobLedger;
  /** All that is asked for between two times. */
  readonly demand: (from: number, to: number) => readonly Demand[];
}

/** Jobs that use the server over HTTP, as real jobs do. */
export class Traffic {
  readonly #operator: BerthClient;
  readonly #clients: ReadonlyMap<string, BerthClient>;
  readonly #options: TrafficOptions;
  readonly #machine: BusyMachine;
  readonly #random: Random;
  readonly #stop = new AbortController();
  readonly #jobs = new Set<Promise<void>>();
  readonly #pace = new Pace();
  asked = 0;
  failed = 0;

  constructor(url: string, options: TrafficOptions) {
    this.#operator = new BerthClient({ url });
    this.#clients = new Map(
      spaceNames.map((name) => [name, new BerthClient({ url, token: options.tokens.of(name) })]),
    );
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#machine = new BusyMachine(options.dayMs);
  }

  /** Continues the jobs that hold or wait when the simulated past ends. */
  takeOver({ open, secret }: Past): void {
    const tokens = new Tokens(secret);
    for (const { demand, grantedAt } of open) {
      const held = { id: demand.id, token: tokens.of(demand.id as RequestId) };
      this.#run(async () => {
        let since = grantedAt;
        const client = this.#clientOf(demand);
        while (since === null) if (await this.#granted(client, held)) since = Date.now();
        await this.#until(since + (demand.ends[0]?.afterMs ?? 0));
        await client.release(held);
      });
    }
  }

  /**
   * A server that has just started with thousands of jobs may answer late. A job that gave up then
   * would leave its lease unused for a full ttl, and no estimate could foresee that.
   */
  async #granted(client: BerthClient, held: Held): Promise<boolean> {
    try {
      return (await client.request(held, { waitMs: 30_000, signal: this.#signal })).granted;
    } catch (error) {
      if (!(error instanceof BerthUnreachable)) throw error;
      await pause(retryMs, undefined, { signal: this.#signal });
      return false;
    }
  }

  /** Runs until it is stopped. */
  async flow(from: number): Promise<void> {
    for (let start = from; !this.#signal.aborted; start += aheadMs) {
      for (const demand of this.#options.demand(start, start + aheadMs)) {
        this.#run(() => this.#job(demand));
      }
      await this.#until(start + aheadMs - 500).catch(() => {});
    }
  }

  /** Teams that drain or quarantine a resource now and then, and undo it later. */
  async tend(): Promise<void> {
    const random = this.#random;
    while (!this.#signal.aborted) {
      await pause(repairs.everyMs, undefined, { signal: this.#signal }).catch(() => {});
      if (this.#signal.aborted) return;
      const { name, kind, size } = random.pick(this.#options.pools);
      const resource = `${name}-${random.between(1, size)}`;
      const repair = repairOf(kind, random.chance(0.5), random);
      this.#run(() => this.#repair(resource, repair));
    }
  }

  /** Says when the machine does not keep up. */
  async watch(say: (text: string) => void): Promise<void> {
    while (!this.#signal.aborted) {
      await pause(lookMs, undefined, { signal: this.#signal }).catch(() => {});
      const found = this.#machine.report();
      if (found !== undefined && !this.#signal.aborted) say(found);
    }
  }

  /** The ids of all leases that the servers have. */
  async knownLeases(): Promise<ReadonlySet<string>> {
    const list = () => this.#operator.everyLease();
    const leases = await retrying(list, { forMs: clientLimits.outageMs });
    return new Set(leases.map(({ id }) => id));
  }

  /** Waiting jobs get a short time to leave the queue; the rest stops with the server. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.race([Promise.allSettled(this.#jobs), pause(leaveMs)]);
  }

  get #signal(): AbortSignal {
    return this.#stop.signal;
  }

  #clientOf({ space = "" }: Demand): BerthClient {
    return this.#clients.get(space) ?? this.#operator;
  }

  async #job(demand: Demand): Promise<void> {
    const { holder, items, priority, askedAt, patienceMs, ends } = demand;
    await this.#until(askedAt);
    if (!this.#pace.mayAsk(Date.now())) return this.#machine.leftOut();
    this.#machine.acted(Date.now() - askedAt);
    this.asked += 1;
    const [{ afterMs, forced } = { afterMs: 0, forced: false }] = ends;
    const isPlain = items.every(({ pool }) => !showcasePools.has(pool));
    const ttl = forced
      ? deathTtl
      : `${Math.ceil((beatsPerTimeout * (afterMs + marginMs)) / 1_000)}s`;
    const wanted = items.map(({ pool, count, amount }) => {
      return { pool, count, ...(amount === undefined ? undefined : { amount: { ...amount } }) };
    });
    const ask = { holder, items: wanted, priority, ...(forced || isPlain ? { ttl } : undefined) };
    const onRetry = () => this.#pace.failed(Date.now());
    const timeout = patienceMs === null ? undefined : { timeoutMs: patienceMs };
    const client = this.#clientOf(demand);
    const sentAt = Date.now();
    const lease = await client.acquire(ask, { signal: this.#signal, onRetry, ...timeout });
    const seen = this.#options.ledger?.granted(lease, sentAt, forced);
    this.#pace.worked();
    const alive = forced || isPlain ? undefined : client.keepAlive(lease);
    try {
      if (items.some(({ pool }) => pool === throttledPool)) await this.#report(client, lease);
      const endsAt = Date.now() + afterMs;
      await this.#until(endsAt);
      this.#machine.acted(Date.now() - endsAt);
    } finally {
      alive?.stop();
    }
    if (forced) return;
    let again = false;
    const retried = () => {
      again = true;
    };
    seen?.releasing();
    seen?.released(await client.release(lease, { onRetry: retried }), again);
  }

  /** The holder says that the provider throttles it, if it does. */
  async #report(client: BerthClient, held: Held): Promise<void> {
    const isBad = Date.now() % badTimes.everyMs < badTimes.forMs;
    if (isBad && this.#random.chance(badTimes.share)) {
      await client.signal(held, { throttled: true, pool: throttledPool });
    }
  }

  async #repair(resource: string, { by, why, note, back }: Repair): Promise<void> {
    const isDrain = note === undefined;
    const out = isDrain ? { drained: true } : { state: "quarantined", note };
    await this.#operator.changeResource(resource, { ...out, by, reason: why });
    await pause(repairs.forMs, undefined, { signal: this.#signal });
    const change = isDrain ? { drained: false } : { state: "free", note: "" };
    await this.#operator.changeResource(resource, { ...change, by, reason: back });
  }

  async #until(at: number): Promise<void> {
    await pause(Math.max(0, at - Date.now()), undefined, { signal: this.#signal });
  }

  /** A job that cancels, or is stopped at the end, is not an error. */
  #run(work: () => Promise<void>): void {
    const job = work().catch((error: unknown) => {
      const usual = error instanceof Error && usualErrors.test(error.name);
      if (!usual && !this.#signal.aborted) this.failed += 1;
    });
    this.#jobs.add(job);
    void job.finally(() => this.#jobs.delete(job));
  }
}
