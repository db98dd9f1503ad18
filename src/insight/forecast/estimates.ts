import type { FrozenState } from "../../core/apply/snapshot.ts";
import type { DurableEvent, EventOf } from "../../core/model/event.ts";
import type { PoolName, RequestId } from "../../core/model/ids.ts";
import type { Pool, State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { AccuracyBook, type Promised } from "./accuracy.ts";
import { contestedParts } from "./components.ts";
import { type Forecast, holdsMin } from "./estimate.ts";
import type { RecordedSamples, Samples } from "./recorded-samples.ts";

/** The part of the broker that estimates use. */
export interface Watched {
  read<T>(read: (state: State, now: Instant) => T): Promise<T>;
  listen(listener: {
    committed(recorded: { readonly at: Instant; readonly events: readonly DurableEvent[] }): void;
  }): () => void;
}

/** The input of a forecast: one contested part of the state. */
export interface ForecastInput {
  readonly part: FrozenState;
  readonly samples: Samples;
  readonly now: Instant;
  readonly seed: number;
}

/** Computes the futures, in another thread if there is one. */
export type Forecaster = (input: ForecastInput) => Promise<readonly Forecast[]>;

export interface EstimatesOptions {
  /** The delay between an event and the next pass. */
  readonly everyMs: number;
  /** The interval of passes while there are no events, because time passes too. */
  readonly idleMs: number;
  readonly seed: number;
  /** Milliseconds of a clock that nobody sets, to measure work. */
  readonly elapsedMs: () => number;
  readonly failed: (cause: unknown) => void;
}

const defaultOptions: EstimatesOptions = {
  everyMs: 1_000,
  idleMs: 10_000,
  seed: 1,
  elapsedMs: () => performance.now(),
  failed: () => {},
};

/**
 * Copying the state runs on the thread that serves clients. It may take at most one part in this
 * many of its time.
 */
const copyShare = 50;
/**
 * The other thread may work at most one part in this many of the time, so that long queues do not
 * keep a core busy.
 */
const workShare = 5;
/** The same for a single queue, so that a long one does not delay the estimates of the short ones. */
const workSharePerPart = 10;

export interface Estimate {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly samples: number;
  /** The time follows from cooldowns and paces alone. */
  readonly exact: boolean;
  /** What was first expected of the request, for those who planned with it. */
  readonly first: Pick<Promised, "p50At" | "p90At">;
}

/**
 * Why there is no estimate: it is not computed yet, too few holds are recorded, an admission check decides, or nothing is
 * known to end.
 */
export type NoEstimate = "not_computed" | "too_few_holds" | "admission" | "no_end_known";

/**
 * Keeps an estimate for every waiting request, computed outside of the broker. Each pass computes those
 * of the queues that are due, one after the other, and keeps each result at once.
 */
export class Estimates {
  readonly #watched: Watched;
  readonly #holds: RecordedSamples;
  readonly #forecaster: Forecaster;
  readonly #options: EstimatesOptions;
  readonly #latest = new Map<RequestId, Forecast>();
  /** Those that a pass has looked at and found no estimate for. */
  readonly #without = new Map<RequestId, NoEstimate>();
  readonly #promised = new Map<RequestId, Promised>();
  /**
   * Requests that were granted since the running pass began, with the time; null if the request
   * left the queue.
   */
  readonly #gone = new Map<RequestId, Instant | null>();
  /** Pools whose estimates are not computed again before this time, because that took long. */
  readonly #restingUntil = new Map<string, number>();
  /** Pools whose rate has changed since their estimates were computed: these do not rest. */
  readonly #outdated = new Set<string>();
  readonly #book = new AccuracyBook();
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #changed = true;
  #restMs = 0;
  #pass = 0;
  #closed = false;
  lastPassMs = 0;

  constructor(
    watched: Watched,
    holds: RecordedSamples,
    forecaster: Forecaster,
    options: Partial<EstimatesOptions> = {},
  ) {
    this.#watched = watched;
    this.#holds = holds;
    this.#forecaster = forecaster;
    this.#options = { ...defaultOptions, ...options };
    this.#stopListening = watched.listen({ committed: (recorded) => this.#onCommitted(recorded) });
    this.#later(this.#options.everyMs);
  }

  /** Null if too little is known. */
  of(id: RequestId, now: number): Estimate | null {
    const forecast = this.#latest.get(id);
    if (forecast === undefined) return null;
    const { p50At, p90At, samples, exact } = forecast;
    const first = this.#promised.get(id) ?? forecast;
    const left = { p50Ms: Math.max(0, p50At - now), p90Ms: Math.max(0, p90At - now) };
    return { ...left, samples, exact, first };
  }

  /** Of a request without an estimate. */
  whyNone(id: RequestId): NoEstimate {
    return this.#without.get(id) ?? "not_computed";
  }

  /** The number of current estimates. */
  get size(): number {
    return this.#latest.size;
  }

  get accuracy(): Pick<AccuracyBook, "total" | "pools"> {
    return this.#book;
  }

  /** Starts a new pass now. */
  refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#changed || this.#latest.size > 0) {
        const { everyMs, idleMs } = this.#options;
        this.#later(Math.max(this.#restMs, this.#changed ? everyMs : idleMs));
      }
    });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #onCommitted({
    at,
    events,
  }: {
    readonly at: Instant;
    readonly events: readonly DurableEvent[];
  }): void {
    this.#changed = true;
    for (const event of events) {
      // An operator has moved it: what was computed before is of its old place.
      if (event.type === "priority-changed" && event.aged !== true) {
        this.#latest.delete(event.id);
        this.#without.delete(event.id);
      }
      if (event.type === "rate-changed" && event.advised !== true) this.#onRate(event);
      if (event.type !== "lease-granted" && event.type !== "request-left") continue;
      const grantedAt = event.type === "lease-granted" ? at : null;
      this.#latest.delete(event.id);
      this.#without.delete(event.id);
      const promised = this.#promised.get(event.id);
      if (promised === undefined) {
        if (this.#running !== undefined) this.#gone.set(event.id, grantedAt);
        continue;
      }
      this.#promised.delete(event.id);
      // A request that left was not granted, so there is nothing to compare.
      if (grantedAt !== null) this.#book.compare(promised, grantedAt);
    }
    this.#later(this.#options.everyMs);
  }

  /** A step of the recovery is foreseen. After any other change the times are those of another rate. */
  #onRate({ pool, cause }: EventOf<"rate-changed">): void {
    this.#outdated.add(pool);
    if (cause.how === "clean") return;
    for (const [id, { pools }] of this.#promised) if (pools.includes(pool)) this.#latest.delete(id);
  }

  #later(delayMs: number): void {
    if (this.#closed || this.#running !== undefined) return;
    this.#timer ??= setTimeout(() => void this.refresh(), Math.max(delayMs, this.#restMs)).unref();
  }

  async #run(): Promise<void> {
    try {
      this.#changed = false;
      this.#gone.clear();
      const startedAt = this.#options.elapsedMs();
      const { parts, now, copyMs } = await this.#watched.read((state, at) => {
        const beganAt = this.#options.elapsedMs();
        this.#forgetGone(state);
        const copies = contestedParts(state, (part) => this.#rests(part));
        this.#outdated.clear();
        return { parts: copies, now: at, copyMs: this.#options.elapsedMs() - beganAt };
      });
      const seed = this.#options.seed + this.#pass++;
      // Short queues first: they need not wait for the estimates of a long one.
      for (const part of parts.sort((a, b) => a.requests.length - b.requests.length)) {
        if (!this.#closed) await this.#estimate(part, now, seed);
      }
      this.lastPassMs = this.#options.elapsedMs() - startedAt;
      this.#restMs = Math.max(copyMs * copyShare, this.lastPassMs * (workShare - 1));
    } catch (cause) {
      this.#restMs = this.#options.idleMs;
      if (!this.#closed) this.#options.failed(cause);
    }
  }

  async #estimate(part: FrozenState, now: Instant, seed: number): Promise<void> {
    const pools = part.pools.map(({ name }) => name);
    const samples = this.#holds.of(pools);
    if (!hasEnough(part, samples) && !hasDeadline(part)) return this.#keep([], part, samples);
    const startedAt = this.#options.elapsedMs();
    this.#keep(await this.#forecaster({ part, samples, now, seed }), part, samples);
    const endedAt = this.#options.elapsedMs();
    const until = endedAt + (endedAt - startedAt) * (workSharePerPart - 1);
    for (const pool of pools) this.#restingUntil.set(pool, until);
  }

  #rests(pools: ReadonlySet<Pool>): boolean {
    if (this.#outdated.size > 0 && pools.values().some(({ name }) => this.#outdated.has(name))) {
      return false;
    }
    const now = this.#options.elapsedMs();
    for (const { name } of pools) {
      if ((this.#restingUntil.get(name) ?? 0) <= now) continue;
      this.#changed = true; // It is due after its rest, even if nothing happens until then.
      return true;
    }
    return false;
  }

  /** A follower that was away for long has not heard of every grant. */
  #forgetGone({ requests, pools }: State): void {
    for (const id of this.#latest.keys()) if (!requests.has(id)) this.#latest.delete(id);
    for (const id of this.#without.keys()) if (!requests.has(id)) this.#without.delete(id);
    for (const id of this.#promised.keys()) if (!requests.has(id)) this.#promised.delete(id);
    for (const name of this.#restingUntil.keys()) {
      if (!pools.has(name as PoolName)) this.#restingUntil.delete(name);
    }
  }

  /**
   * A request that was granted during the pass needs no estimate, but it is compared. Without it,
   * the comparison would contain only the longest waits.
   */
  #keep(found: readonly Forecast[], { requests, pools }: FrozenState, samples: Samples): void {
    const asks = new Map(requests.map(({ id, ask }) => [id, ask]));
    const checked = new Set<string>();
    for (const { name, policy } of pools) if (policy.admission !== undefined) checked.add(name);
    for (const [id, { items }] of asks) {
      this.#latest.delete(id);
      // One that has gone meanwhile would stay here until the next pass; nobody asks for it.
      this.#without.set(
        id,
        whyNone(
          items.map(({ pool }) => pool),
          checked,
          samples,
        ),
      );
    }
    for (const forecast of found) {
      const { id, p50At, p90At } = forecast;
      this.#without.delete(id);
      const pools = new Set(asks.get(id)?.items.map(({ pool }) => pool) ?? []);
      const promised = { p50At, p90At, pools: [...pools] };
      const grantedAt = this.#gone.get(id);
      if (grantedAt === undefined) {
        this.#latest.set(id, forecast);
        if (!this.#promised.has(id)) this.#promised.set(id, promised);
      } else if (grantedAt !== null) this.#book.compare(promised, grantedAt);
    }
  }
}

/** Of a request for these pools. The more certain reason comes first: more holds do not say when a check finds capacity. */
function whyNone(
  pools: readonly string[],
  checked: ReadonlySet<string>,
  samples: Samples,
): NoEstimate {
  if (pools.some((pool) => checked.has(pool))) return "admission";
  return pools.every((pool) => isEnough(samples, pool)) ? "no_end_known" : "too_few_holds";
}

/** Whether enough holds are known for one of the waiting requests. */
function hasEnough({ requests }: FrozenState, samples: Samples): boolean {
  return requests.some(({ ask }) => ask.items.every(({ pool }) => isEnough(samples, pool)));
}

function isEnough({ holds }: Samples, pool: string): boolean {
  return (holds.get(pool)?.length ?? 0) >= holdsMin;
}

/** Whether a request may be granted at a time that is known without any recorded hold. */
function hasDeadline({ pools }: FrozenState): boolean {
  return pools.some(({ pace, resources }) => {
    return pace !== undefined || resources.some(({ restsUntil }) => restsUntil !== undefined);
  });
}
