/**
 * Finds out whether pools may be lent that are lent only while there is room in a cluster, and tells
 * the broker. Checks run only while a request is blocked by admission alone, one at a time for
 * each pool, and none too soon after the one before. If it cannot look, nothing is lent.
 */
import { Problem } from "../../api/problem.ts";
import type { Broker } from "../../broker/broker.ts";
import { pause } from "../../client/pause.ts";
import type { AdmissionSpec } from "../../config/read-admission.ts";
import { awaitingAdmission } from "../../core/decide/admit.ts";
import type { PoolName } from "../../core/model/ids.ts";
import { same } from "../../core/model/policy.ts";
import type { Instant } from "../../core/model/time.ts";
import { ApiUnreachable } from "../../kubernetes/errors.ts";
import { CapacityCheck } from "./capacity-check.ts";
import { admissionLimits } from "./limits.ts";

export type Verdict = "room" | "none" | "unknown";

export interface AdmissionNews {
  /** Told when it is another than before. */
  verdict?(pool: string, verdict: Verdict, why: string): void;
}

export interface AdmissionFigures {
  /** By pool, what the last look found, and when. */
  readonly last: ReadonlyMap<string, { readonly found: Verdict; readonly at: Instant }>;
  readonly looks: ReadonlyMap<Verdict, number>;
}

interface Found {
  readonly verdict: Verdict;
  /** For everybody who waits. */
  readonly why: string;
  /** For the log. */
  readonly detail: string;
  readonly grants: number;
}

interface Guard {
  readonly spec: AdmissionSpec;
  readonly check: CapacityCheck;
  notBeforeMs: number;
  looking: boolean;
  /** What the last word was good for. */
  given: number;
}

export class Admission {
  readonly #broker: Broker;
  readonly #news: AdmissionNews;
  readonly #stop = new AbortController();
  readonly #last = new Map<string, { readonly found: Verdict; readonly at: Instant }>();
  readonly #looks = new Map<Verdict, number>();
  #guards = new Map<PoolName, Guard>();
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(broker: Broker, news: AdmissionNews = {}) {
    this.#broker = broker;
    this.#news = news;
  }

  get figures(): AdmissionFigures {
    return { last: this.#last, looks: this.#looks };
  }

  /** What is under way ends under the old rules. */
  configure(specs: readonly AdmissionSpec[]): void {
    const guards = specs.map((spec): [PoolName, Guard] => {
      const known = this.#guards.get(spec.pool);
      if (known !== undefined && same(known.spec, spec)) return [spec.pool, known];
      const check = new CapacityCheck(spec.check);
      return [spec.pool, { spec, check, notBeforeMs: 0, looking: false, given: 0 }];
    });
    this.#guards = new Map(guards);
    for (const pool of this.#last.keys()) {
      if (!this.#guards.has(pool as PoolName)) this.#last.delete(pool);
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
      const timer = setTimeout(() => this.#wake.resolve(), nextMs);
      await this.#wake.promise;
      clearTimeout(timer);
      // Commits come by the thousand; who waits for a cluster does not mind the blink of an eye.
      await pause(admissionLimits.gapMs, signal).catch(() => {});
    }
    forget();
  }

  /** After how long there is something to do again, even if nothing happens. */
  async #lookWhereDue(): Promise<number> {
    const names = this.#guards.keys();
    const wanted = await this.#broker.look((state, now) => {
      const counts = awaitingAdmission(state, now, admissionLimits.aheadMs, names);
      return Array.from(counts, ([pool, count]) => {
        const { size = 0, admission } = state.pools.get(pool) ?? {};
        return { pool, count, size, credits: admission?.credits ?? 0 };
      });
    });
    let nextMs: number = admissionLimits.idleMs;
    for (const { pool, credits, ...rest } of wanted) {
      const guard = this.#guards.get(pool);
      if (guard === undefined || guard.looking) continue;
      // A word that nobody has used has changed nothing outside: it can be asked for anew at once, or
      // the words of two pools might never be there together.
      const isUnused = guard.given > 0 && credits === guard.given;
      const waitMs = isUnused ? 0 : guard.notBeforeMs - performance.now();
      if (waitMs > 0) nextMs = Math.min(nextMs, waitMs);
      else void this.#look(guard, rest);
    }
    return nextMs;
  }

  async #look(guard: Guard, { count, size }: { count: number; size: number }): Promise<void> {
    const { pool, everyMs } = guard.spec;
    guard.looking = true;
    try {
      const found = await this.#find(guard, count, size);
      // Where the journal cannot be written nothing is lent, whatever was found.
      if (this.#guards.get(pool) === guard) await this.#tell(guard, found).catch(() => {});
    } finally {
      guard.looking = false;
      guard.notBeforeMs = performance.now() + everyMs;
      this.#wake.resolve();
    }
  }

  async #find(guard: Guard, count: number, size: number): Promise<Found> {
    try {
      const why = await guard.check.whyNot({ count, size, signal: this.#stop.signal });
      if (why === undefined) return { verdict: "room", why: "", detail: "", grants: count };
      return { verdict: "none", why, detail: why, grants: 0 };
    } catch (error) {
      return { verdict: "unknown", ...whyBlind(error), grants: 0 };
    }
  }

  async #tell(guard: Guard, { verdict, why, detail, grants }: Found): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const { pool } = guard.spec;
    this.#looks.set(verdict, (this.#looks.get(verdict) ?? 0) + 1);
    if (this.#last.get(pool)?.found !== verdict) this.#news.verdict?.(pool, verdict, detail);
    this.#last.set(pool, { found: verdict, at: this.#broker.now() });
    guard.given = grants;
    const forMs = admissionLimits.creditMs;
    if (verdict === "room") await this.#broker.submit({ type: "admit", pool, grants, forMs });
    else await this.#broker.submit({ type: "withhold", pool, why });
  }
}

/**
 * What everybody who waits is told says nothing of where and how it is looked. The details, for the log,
 * are bounded as well: a plugin that gets a token may say anything.
 */
function whyBlind(error: unknown): { readonly why: string; readonly detail: string } {
  const text = error instanceof Error ? error.message : String(error);
  const detail = text.split("\n", 1)[0]?.slice(0, detailLengthMax) ?? "";
  if (error instanceof ApiUnreachable) return { why: `${blind}cannot be reached`, detail };
  if (error instanceof Problem) return { why: `${blind}refuses it (${error.status})`, detail };
  return { why: "it cannot look, and the server's log says why", detail };
}

const blind = "it cannot look, because the API server ";
const detailLengthMax = 300;
