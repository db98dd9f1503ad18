/** All that is learnt from what was committed: history, statistics, estimates, what-if. */
import { setTimeout } from "node:timers/promises";
import type { Journal } from "../journal/journal.ts";
import { Estimates, type Watched } from "./forecast/estimates.ts";
import { HoldSamples } from "./forecast/hold-samples.ts";
import { type Followed, HistoryFollower } from "./history/follower.ts";
import { HistoryReader } from "./history/reader.ts";
import { HistoryStore } from "./history/store.ts";
import type { JobKind, JobOptions, Jobs } from "./job.ts";
import { Analyst } from "./stats-worker.ts";
import { study } from "./study.ts";

export interface InsightOptions {
  /** The journal's file; undefined: history is in memory, as the journal is. */
  readonly path?: string | undefined;
  readonly retentionMs?: number | undefined;
  /** Drops the history that is there; it is made again from the journal. */
  readonly anew?: boolean | undefined;
  readonly failed?: (what: string, cause: unknown) => void;
}

/** Holds that estimates begin with after a restart. */
const holdsReadMax = 50_000;
/** A reader waits for history to catch up if it is no more behind than this; then it takes a blink. */
const lagWaitedFor = 20_000;
const waitMsMax = 2_000;

export class Insight {
  readonly estimates: Estimates;
  readonly #store: HistoryStore;
  readonly #reader: HistoryReader;
  readonly #follower: HistoryFollower;
  readonly #analyst: Analyst;
  readonly #inMemory: boolean;

  constructor(
    journal: Pick<Journal, "read" | "loadSnapshot">,
    broker: Followed & Watched,
    { path, retentionMs, anew = false, failed = () => {} }: InsightOptions = {},
  ) {
    this.#inMemory = path === undefined;
    this.#store = path === undefined ? HistoryStore.inMemory() : HistoryStore.open(path, { anew });
    this.#reader = new HistoryReader(this.#store.database);
    this.#analyst = new Analyst(path ?? ":memory:");
    const holds = new HoldSamples();
    holds.record([...this.#reader.latest(holdsReadMax)].reverse());
    this.#follower = new HistoryFollower(this.#store, journal, broker, {
      ...(retentionMs === undefined ? undefined : { retentionMs }),
      failed: (cause) => failed("history", cause),
      ended: (entries) => holds.record(entries),
    });
    this.estimates = new Estimates(broker, holds, (what) => this.#analyst.study("estimate", what), {
      failed: (cause) => failed("an estimate", cause),
    });
  }

  /** Events that history has yet to follow. */
  get lag(): number {
    return this.#follower.lag;
  }

  /** Answers from a history that has all that was committed when it was asked, unless it is far behind. */
  async study<Kind extends Exclude<JobKind, "estimate">>(
    kind: Kind,
    ask: Jobs[Kind]["ask"],
    options: JobOptions = {},
  ): Promise<Jobs[Kind]["answer"]> {
    if (this.#follower.lag <= lagWaitedFor) {
      // Where history cannot be written it does not catch up, and can be read all the same.
      const late = new AbortController();
      const tooLate = setTimeout(waitMsMax, undefined, { signal: late.signal, ref: false });
      await Promise.race([this.#follower.caughtUp(), tooLate.catch(() => {})]);
      late.abort();
    }
    // Another thread cannot see what is in the memory of this one.
    return this.#inMemory
      ? study(this.#reader, kind, ask, options)
      : this.#analyst.study(kind, ask, options);
  }

  /** Before the journal is closed. */
  async close(): Promise<void> {
    await Promise.all([this.estimates.close(), this.#analyst.close()]);
    await this.#follower.close();
  }
}
