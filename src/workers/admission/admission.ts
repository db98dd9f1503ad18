/**
 * Checks whether a cluster has capacity for pools with admission, and reports the result to the
 * broker. Checks run only while a request is blocked by admission alone, one at a time for each
 * pool, and at most once per configured interval. If a check fails, the pool grants nothing.
 */

import { Problem } from "../../api/problem.ts";
import type { Broker } from "../../broker/broker.ts";
import { pause } from "../../client/pause.ts";
import type { AdmissionSpec } from "../../config/read-admission.ts";
import { awaitingAdmission } from "../../core/decide/admit.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { Origin } from "../../core/model/origin.ts";
import { same } from "../../core/model/policy.ts";
import { after, type Instant } from "../../core/model/time.ts";
import { ApiUnreachable } from "../../kubernetes/errors.ts";
import { CapacityCheck } from "./capacity-check.ts";
import { admissionLimits } from "./limits.ts";

export type Verdict = "room" | "none" | "unknown";

export interface AdmissionListener {
  /** Called when the verdict of a pool changes. */
  verdict?(pool: string, verdict: Verdict, why: string): void;
}

interface LastCheck {
  readonly found: Verdict;
  readonly at: Instant;
  /** When the next one may run, if a request waits for it. */
  readonly nextAt: Instant;
}

export interface AdmissionFigures {
  /** By pool. */
  readonly last: ReadonlyMap<string, LastCheck>;
  readonly looks: ReadonlyMap<Verdict, number>;
}

interface CheckResult {
  readonly verdict: Verdict;
  /** Shown to every waiting client. */
  readonly why: string;
  /** Written to the log only. */
  readonly detail: string;
  readonly grants: number;
}

interface PoolCheck {
  readonly spec: AdmissionSpec;
  readonly check: CapacityCheck;
  notBeforeMs: number;
  isChecking: boolean;
  /** The number of grants that the last check allowed. */
  lastCredits: number;
}

export class Admission {
  readonly #broker: Broker;
  readonly #listener: AdmissionListener;
  readonly #stop = new AbortController();
  readonly #last = new Map<string, LastCheck>();
  readonly #looks = new Map<Verdict, number>();
  #poolChecks = new Map<PoolName, PoolCheck>();
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(broker: Broker, listener: AdmissionListener = {}) {
    this.#broker = broker;
    this.#listener = listener;
  }

  get figures(): AdmissionFigures {
    return { last: this.#last, looks: this.#looks };
  }

  /** A running check finishes with the old settings. */
  configure(specs: readonly AdmissionSpec[]): void {
    const poolChecks = specs.map((spec): [PoolName, PoolCheck] => {
      const known = this.#poolChecks.get(spec.pool);
      if (known !== undefined && same(known.spec, spec)) return [spec.pool, known];
      const check = new CapacityCheck(spec.check);
      return [spec.pool, { spec, check, notBeforeMs: 0, isChecking: false, lastCredits: 0 }];
    });
    this.#poolChecks = new Map(poolChecks);
    for (const pool of this.#last.keys()) {
      if (!this.#poolChecks.has(pool as PoolName)) this.#last.delete(pool);
    }
    if (this.#poolChecks.size > 0) this.#running ??= this.#run();
    this.#wake.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const stopListening = this.#broker.listen({ committed: () => this.#wake.resolve() });
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const nextMs = await this.#runDueChecks().catch(() => admissionLimits.idleMs);
      const timer = setTimeout(() => this.#wake.resolve(), nextMs);
      await this.#wake.promise;
      clearTimeout(timer);
      // There may be thousands of commits in a second. A short pause handles them together, and a
      // request that waits for a cluster does not notice it.
      await pause(admissionLimits.gapMs, signal).catch(() => {});
    }
    stopListening();
  }

  /** Returns the time until the next check is due, even if there are no commits. */
  async #runDueChecks(): Promise<number> {
    const names = this.#poolChecks.keys();
    const wanted = await this.#broker.read((state, now) => {
      const counts = awaitingAdmission(state, now, admissionLimits.aheadMs, names);
      return Array.from(counts, ([pool, count]) => {
        const { size = 0, admission } = state.pools.get(pool) ?? {};
        return { pool, count, size, credits: admission?.credits ?? 0 };
      });
    });
    let nextMs: number = admissionLimits.idleMs;
    for (const { pool, credits, ...rest } of wanted) {
      const poolCheck = this.#poolChecks.get(pool);
      if (poolCheck === undefined || poolCheck.isChecking) continue;
      // Unused credits have changed nothing in the cluster, so they may be renewed at once.
      // Otherwise a request for two pools might never find the credits of both at the same time.
      const isUnused = poolCheck.lastCredits > 0 && credits === poolCheck.lastCredits;
      const waitMs = isUnused ? 0 : poolCheck.notBeforeMs - performance.now();
      if (waitMs > 0) nextMs = Math.min(nextMs, waitMs);
      else void this.#check(poolCheck, rest);
    }
    return nextMs;
  }

  async #check(
    poolCheck: PoolCheck,
    { count, size }: { count: number; size: number },
  ): Promise<void> {
    const { pool, everyMs } = poolCheck.spec;
    poolCheck.isChecking = true;
    try {
      const found = await this.#runCheck(poolCheck, count, size);
      // While the journal is not writable, the broker grants nothing anyway.
      if (this.#poolChecks.get(pool) === poolCheck)
        await this.#report(poolCheck, found).catch(() => {});
    } finally {
      poolCheck.isChecking = false;
      poolCheck.notBeforeMs = performance.now() + everyMs;
      this.#wake.resolve();
    }
  }

  async #runCheck(poolCheck: PoolCheck, count: number, size: number): Promise<CheckResult> {
    try {
      const why = await poolCheck.check.whyNot({ count, size, signal: this.#stop.signal });
      if (why === undefined) return { verdict: "room", why: "", detail: "", grants: count };
      return { verdict: "none", why, detail: why, grants: 0 };
    } catch (error) {
      return { verdict: "unknown", ...describeFailure(error), grants: 0 };
    }
  }

  async #report(
    poolCheck: PoolCheck,
    { verdict, why, detail, grants }: CheckResult,
  ): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const { pool, everyMs } = poolCheck.spec;
    this.#looks.set(verdict, (this.#looks.get(verdict) ?? 0) + 1);
    if (this.#last.get(pool)?.found !== verdict) this.#listener.verdict?.(pool, verdict, detail);
    const at = this.#broker.now();
    this.#last.set(pool, { found: verdict, at, nextAt: after(at, everyMs) });
    poolCheck.lastCredits = grants;
    const forMs = admissionLimits.creditMs;
    const room = { type: "admit", pool, grants, forMs } as const;
    await this.#broker.submit(verdict === "room" ? room : { type: "withhold", pool, why }, from);
  }
}

const from: Origin = { way: "worker", by: "berth-admission" };

/**
 * Clients see neither the address of the API server nor details of the check. The log gets the
 * details, cut to a limit, because the output of a credential plugin may be of any length.
 */
function describeFailure(error: unknown): { readonly why: string; readonly detail: string } {
  const text = error instanceof Error ? error.message : String(error);
  const detail = text.split("\n", 1)[0]?.slice(0, detailLengthMax) ?? "";
  if (error instanceof ApiUnreachable) return { why: `${failed}cannot be reached`, detail };
  if (error instanceof Problem) return { why: `${failed}answered ${error.status}`, detail };
  return { why: "the check failed; the log of the server has the cause", detail };
}

const failed = "the check failed: the API server ";
const detailLengthMax = 300;
