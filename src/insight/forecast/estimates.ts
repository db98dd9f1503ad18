import type { FrozenState } from "../../core/apply/snapshot.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { type Accuracy, AccuracyBook, type Promised } from "./accuracy.ts";
import { contestedParts } from "./components.ts";
import { type Forecast, type Holds, holdsMin } from "./estimate.ts";
import type { HoldSamples } from "./hold-samples.ts";

/** The broker, as far as estimates see it. */
export interface Watched {
  look<T>(read: (state: State, now: Instant) => T): Promise<T>;
  listen(listener: {
    committed(recorded: { readonly at: Instant; readonly events: readonly DurableEvent[] }): void;
  }): () => void;
}

/** What futures are made of. */
export interface ForecastInput {
  readonly parts: readonly FrozenState[];
  readonly holds: Holds;
  readonly now: Instant;
  readonly seed: number;
}

/** Runs the futures, in another thread where there is one. */
export type Forecaster = (input: ForecastInput) => Promise<readonly Forecast[]>;

export interface EstimatesOptions {
  /** After something has happened it takes so long until estimates are made anew. */
  readonly everyMs: number;
  /** While nothing happens, time passes: then they are made anew so often. */
  readonly idleMs: number;
  readonly seed: number;
  readonly failed: (cause: unknown) => void;
}

const defaultOptions: EstimatesOptions = {
  everyMs: 1_000,
  idleMs: 10_000,
  seed: 1,
  failed: () => {},
};

/** Copying the state is done on the thread that serves: no more of its time than one part in so many. */
const copyShare = 50;
/** And the other thread works one part of its time in so many: a long queue must not keep a core busy. */
const workShare = 5;

export interface Estimate {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly samples: number;
}

/** An estimate for everybody who waits, made beside the broker and kept until the next one. */
export class Estimates {
  readonly #watched: Watched;
  readonly #holds: HoldSamples;
  readonly #forecaster: Forecaster;
  readonly #options: EstimatesOptions;
  readonly #latest = new Map<RequestId, Forecast>();
  readonly #promised = new Map<RequestId, Promised>();
  /** When those were granted that were since the pass under way has begun; null: it left. */
  readonly #gone = new Map<RequestId, Instant | null>();
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
    holds: HoldSamples,
    forecaster: Forecaster,
    options: Partial<EstimatesOptions> = {},
  ) {
    this.#watched = watched;
    this.#holds = holds;
    this.#forecaster = forecaster;
    this.#options = { ...defaultOptions, ...options };
    this.#stopListening = watched.listen({ committed: (recorded) => this.#hear(recorded) });
    this.#later(this.#options.everyMs);
  }

  /** Null: too little is known. */
  of(id: RequestId, now: number): Estimate | null {
    const forecast = this.#latest.get(id);
    if (forecast === undefined) return null;
    const { p50At, p90At, samples } = forecast;
    return { p50Ms: Math.max(0, p50At - now), p90Ms: Math.max(0, p90At - now), samples };
  }

  /** How many have an estimate now. */
  get size(): number {
    return this.#latest.size;
  }

  get accuracy(): { readonly total: Accuracy; readonly pools: ReadonlyMap<string, Accuracy> } {
    return this.#book;
  }

  /** Makes them anew, now. */
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

  #hear({ at, events }: { readonly at: Instant; readonly events: readonly DurableEvent[] }): void {
    this.#changed = true;
    for (const event of events) {
      if (event.type !== "lease-granted" && event.type !== "request-left") continue;
      const grantedAt = event.type === "lease-granted" ? at : null;
      this.#latest.delete(event.id);
      const promised = this.#promised.get(event.id);
      if (promised === undefined) {
        if (this.#running !== undefined) this.#gone.set(event.id, grantedAt);
        continue;
      }
      this.#promised.delete(event.id);
      // Who left was not granted; when it would have been nobody knows.
      if (grantedAt !== null) this.#book.compare(promised, grantedAt);
    }
    this.#later(this.#options.everyMs);
  }

  #later(delayMs: number): void {
    if (this.#closed || this.#running !== undefined) return;
    this.#timer ??= setTimeout(() => void this.refresh(), Math.max(delayMs, this.#restMs)).unref();
  }

  async #run(): Promise<void> {
    try {
      this.#changed = false;
      this.#gone.clear();
      const startedAt = performance.now();
      const { parts, now, copyMs } = await this.#watched.look((state, at) => {
        const beganAt = performance.now();
        const copies = contestedParts(state);
        return { parts: copies, now: at, copyMs: performance.now() - beganAt };
      });
      const holds = this.#holds.of(parts.flatMap(({ pools }) => pools.map(({ name }) => name)));
      const known = parts.filter(({ requests }) =>
        requests.some(({ ask }) => ask.items.every(({ pool }) => enough(holds, pool))),
      );
      const seed = this.#options.seed + this.#pass++;
      const found =
        known.length === 0 ? [] : await this.#forecaster({ parts: known, holds, now, seed });
      this.#keep(found, parts);
      this.lastPassMs = performance.now() - startedAt;
      this.#restMs = Math.max(copyMs * copyShare, this.lastPassMs * (workShare - 1));
    } catch (cause) {
      this.#restMs = this.#options.idleMs;
      if (!this.#closed) this.#options.failed(cause);
    }
  }

  /**
   * Who was granted while the futures ran has no use for an estimate any more, but it is compared all
   * the same: left out, those who wait longest would be all that is compared.
   */
  #keep(found: readonly Forecast[], parts: readonly FrozenState[]): void {
    const waiting = new Map(parts.flatMap(({ requests }) => requests.map((r) => [r.id, r.ask])));
    this.#latest.clear();
    for (const forecast of found) {
      const { id, p50At, p90At } = forecast;
      const pools = new Set(waiting.get(id)?.items.map(({ pool }) => pool) ?? []);
      const promised = { p50At, p90At, pools: [...pools] };
      const grantedAt = this.#gone.get(id);
      if (grantedAt === undefined) {
        this.#latest.set(id, forecast);
        if (!this.#promised.has(id)) this.#promised.set(id, promised);
      } else if (grantedAt !== null) this.#book.compare(promised, grantedAt);
    }
  }
}

function enough(holds: Holds, pool: string): boolean {
  return (holds.get(pool)?.length ?? 0) >= holdsMin;
}
