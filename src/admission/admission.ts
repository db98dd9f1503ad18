/**
 * Finds out whether pools may be lent that are lent only while there is room in a cluster, and tells
 * the broker. It looks only while somebody waits whom nothing else holds back, one look at a time for
 * each pool, and none too soon after the one before. If it cannot look, nothing is lent.
 */
import type { Broker } from "../broker/broker.ts";
import { pause } from "../client/pause.ts";
import type { AdmissionSpec } from "../config/read-admission.ts";
import { awaitingAdmission } from "../core/admit.ts";
import type { PoolName } from "../core/ids.ts";
import { same } from "../core/policy.ts";
import { CapacityCheck } from "./capacity-check.ts";
import { admissionLimits } from "./limits.ts";

export type Verdict = "room" | "none" | "unknown";

export interface AdmissionNews {
  /** Told when it is another than before. */
  verdict?(pool: string, verdict: Verdict, why: string): void;
}

export interface AdmissionFigures {
  /** By pool, what the last look found. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly looks: ReadonlyMap<Verdict, number>;
}

interface Guard {
  readonly spec: AdmissionSpec;
  readonly check: CapacityCheck;
  notBeforeMs: number;
  looking: boolean;
}

export class Admission {
  readonly #broker: Broker;
  readonly #news: AdmissionNews;
  readonly #stop = new AbortController();
  readonly #verdicts = new Map<string, Verdict>();
  readonly #looks = new Map<Verdict, number>();
  #guards = new Map<PoolName, Guard>();
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(broker: Broker, news: AdmissionNews = {}) {
    this.#broker = broker;
    this.#news = news;
  }

  get figures(): AdmissionFigures {
    return { verdicts: this.#verdicts, looks: this.#looks };
  }

  /** What is under way ends under the old rules. */
  configure(specs: readonly AdmissionSpec[]): void {
    const guards = specs.map((spec): [PoolName, Guard] => {
      const known = this.#guards.get(spec.pool);
      if (known !== undefined && same(known.spec, spec)) return [spec.pool, known];
      const check = new CapacityCheck(spec.check);
      return [spec.pool, { spec, check, notBeforeMs: 0, looking: false }];
    });
    this.#guards = new Map(guards);
    for (const pool of this.#verdicts.keys()) {
      if (!this.#guards.has(pool as PoolName)) this.#verdicts.delete(pool);
    }
    if (this.#guards.size > 0) this.#running ??= this.#run();
    this.#wake.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const forget = this.#broker.listen({ committed: () => this.#wake.resolve() });
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const nextMs = await this.#lookWhereDue().catch(() => admissionLimits.idleMs);
      const asleep = new AbortController();
      const either = AbortSignal.any([signal, asleep.signal]);
      const late = pause(nextMs, either).catch(() => {});
      await Promise.race([this.#wake.promise, late]);
      asleep.abort();
      // Commits come by the thousand; who waits for a cluster does not mind the blink of an eye.
      await pause(admissionLimits.gapMs, signal).catch(() => {});
    }
    forget();
  }

  /** After how long there is something to do again, even if nothing happens. */
  async #lookWhereDue(): Promise<number> {
    const names = this.#guards.keys();
    const wanted = await this.#broker.look((state, now) => {
      const counts = awaitingAdmission(state, now, names);
      return Array.from(counts, ([pool, count]) => {
        return { pool, count, size: state.pools.get(pool)?.size ?? 0 };
      });
    });
    let nextMs: number = admissionLimits.idleMs;
    for (const { pool, ...rest } of wanted) {
      const guard = this.#guards.get(pool);
      if (guard === undefined || guard.looking) continue;
      const waitMs = guard.notBeforeMs - performance.now();
      if (waitMs > 0) nextMs = Math.min(nextMs, waitMs);
      else void this.#look(guard, rest);
    }
    return nextMs;
  }

  async #look(guard: Guard, { count, size }: { count: number; size: number }): Promise<void> {
    const { signal } = this.#stop;
    const { pool, everyMs } = guard.spec;
    guard.looking = true;
    try {
      const why = await guard.check.whyNot({ count, size, signal });
      if (why === undefined) await this.#tell(pool, "room", "", count);
      else await this.#tell(pool, "none", why, 0);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Also where the journal cannot be written: then nothing is lent, whatever is found.
      await this.#tell(pool, "unknown", `it cannot look. ${why}`, 0).catch(() => {});
    } finally {
      guard.looking = false;
      guard.notBeforeMs = performance.now() + everyMs;
      this.#wake.resolve();
    }
  }

  async #tell(pool: PoolName, verdict: Verdict, why: string, grants: number): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#looks.set(verdict, (this.#looks.get(verdict) ?? 0) + 1);
    if (this.#verdicts.get(pool) !== verdict) this.#news.verdict?.(pool, verdict, why);
    this.#verdicts.set(pool, verdict);
    const forMs = admissionLimits.creditMs;
    if (verdict === "room") await this.#broker.submit({ type: "admit", pool, grants, forMs });
    else await this.#broker.submit({ type: "withhold", pool, why });
  }
}
