/**
 * Everything that is derived from commits: history, audit, statistics, estimates and what-if.
 *
 * It uses two threads, because percentiles over months, simulated weeks and the futures of a long
 * queue each take the time of thousands of grants:
 *
 *   the server's thread                           the stats thread (`stats-thread.ts`)
 *   ───────────────────                           ────────────────────────────────────
 *   broker ──committed──▶ HistoryFollower ──writes──▶ history.db ──reads──▶ HistoryReader
 *                         (small slices, when                                  │
 *                          the thread is idle)                                 ▼
 *   HTTP ──▶ StatsService ──▶ StatsWorker ───────query─────────────────▶ answerQuery
 *            Estimates ───▶      │       ◀──────answer─────────────────  pages, stats, events,
 *            (copies the parts                                           what-if, estimates
 *             of the state with waiting requests)
 *
 * History is written on the server's thread: it receives the commits there, and the writes of a
 * second take a few milliseconds. With history in memory, another thread has no file to read, so
 * pages, stats and what-if are computed on the server's thread; estimates never are.
 */
import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Journal } from "../journal/journal.ts";
import { journalPath } from "../journal/sqlite.ts";
import { Turns } from "../journal/turns.ts";
import { answerQuery, type Sources } from "./answer-query.ts";
import { Audit } from "./audit/audit.ts";
import { auditPath } from "./audit/audit-file.ts";
import { anchorText } from "./audit/chain.ts";
import { type AuditPage, AuditReader, type AuditSearch } from "./audit/reader.ts";
import { AuditStore } from "./audit/store.ts";
import { type EventPage, type EventSearch, findEvents, withHolders } from "./event-search.ts";
import type { Followed } from "./follow/journal-follower.ts";
import { Estimates, type Watched } from "./forecast/estimates.ts";
import { RecordedSamples } from "./forecast/recorded-samples.ts";
import { History } from "./history/history.ts";
import { historyPath } from "./history/history-file.ts";
import { HistoryStore } from "./history/store.ts";
import { UsualWaits } from "./history/usual-waits.ts";
import type { QueryKind, QueryOptions, StatsQueries } from "./stats-query.ts";
import { closedWorker, StatsWorker, StatsWorkerBusy } from "./stats-worker.ts";

export interface StatsServiceOptions {
  /** The data folder; undefined if history is in memory. */
  readonly folder?: string | undefined;
  /** Whether the journal is not in the data folder, so that the thread cannot read it. */
  readonly journalElsewhere?: boolean | undefined;
  readonly retentionMs?: number | undefined;
  readonly auditRetentionMs?: number | undefined;
  /** Deletes the existing history and builds it again from the journal. */
  readonly anew?: boolean | undefined;
  /** Called with the number of entries that were moved from the journal file of an older Berth. */
  readonly moved?: (entries: number) => void;
  readonly failed?: (what: string, cause: unknown) => void;
  /** Called now and then with the last entry of the audit, to be noted elsewhere. */
  readonly anchor?: (anchor: string) => void;
}

/** The number of holds to read for estimates after a restart. */
const holdsReadMax = 50_000;
/**
 * A query waits for history to catch up if it is at most this many events behind, which is quick.
 */
const lagWaitedFor = 20_000;
const waitMsMax = 2_000;
/** Searches of a journal that only this thread can read: more do not wait. */
const searchesMax = 64;

export class StatsService {
  readonly estimates: Estimates;
  readonly usualWaits = new UsualWaits((since, now) => this.ask("waits", { since, now }));
  readonly audit: Audit;
  readonly #history: History;
  readonly #worker: StatsWorker;
  /** A thread of its own: an estimate may take seconds, and nobody who asks shall wait for it. */
  readonly #futures = new StatsWorker(undefined);
  readonly #inMemory: boolean;
  readonly #journalElsewhere: boolean;
  readonly #searches = new Turns({
    max: searchesMax,
    refusal: () => new StatsWorkerBusy(`Cannot search: ${searchesMax} searches are already queued`),
  });
  readonly #journal: Pick<Journal, "search">;
  readonly #closing = new AbortController();

  constructor(
    journal: Pick<Journal, "read" | "search" | "loadSnapshot" | "secret">,
    broker: Followed & Watched,
    options: StatsServiceOptions = {},
  ) {
    const { folder, retentionMs, failed = () => {} } = options;
    this.#inMemory = folder === undefined;
    this.#journalElsewhere = options.journalElsewhere ?? false;
    this.#journal = journal;
    this.#worker = new StatsWorker(folder);
    const holds = new RecordedSamples();
    this.#history = new History(opener(options), journal, broker, {
      ...(retentionMs === undefined ? undefined : { retentionMs }),
      journalId: idOf(journal),
      failed: (cause) => failed("history", cause),
      opened: (reader) => {
        holds.record([...reader.latest(holdsReadMax)].reverse());
        holds.recordUpkeep(reader.latestUpkeep(holdsReadMax));
      },
      ended: (entries, upkeep) => {
        holds.record(entries);
        holds.recordUpkeep(upkeep);
      },
    });
    const store = () =>
      folder === undefined ? AuditStore.inMemory() : AuditStore.open(auditPath(folder));
    this.audit = new Audit(store, journal, broker, {
      retentionMs: options.auditRetentionMs,
      journalId: idOf(journal),
      failed: (cause) => failed("the audit", cause),
      anchor: (anchor) => options.anchor?.(anchorText(anchor)),
    });
    this.estimates = new Estimates(broker, holds, (input) => this.#futures.ask("estimate", input), {
      failed: (cause) => failed("an estimate", cause),
    });
  }

  /** The number of events that history has not processed yet. */
  get lag(): number {
    return this.#history.lag;
  }

  /**
   * Answers from a history with everything that was committed before the call, unless it is far
   * behind. Rejects with `HistoryUnavailable`, `StatsWorkerBusy` or `TooMuchHistory`.
   */
  async ask<Kind extends Exclude<QueryKind, "estimate" | "audit">>(
    kind: Kind,
    question: StatsQueries[Kind]["question"],
    options: QueryOptions = {},
  ): Promise<StatsQueries[Kind]["answer"]> {
    this.#history.mustBeOpen();
    await upToDate(this.#history);
    if (this.#inMemory) return answerQuery(this.#sources, kind, question, options);
    if (kind === "events" && this.#journalElsewhere) {
      const found = await this.#searchElsewhere(question as EventSearch, options);
      return found as StatsQueries[Kind]["answer"];
    }
    return this.#worker.ask(kind, question, options);
  }

  /** The journal is read here, because only this thread has a connection to its database. */
  #searchElsewhere(search: EventSearch, { signal }: QueryOptions): Promise<EventPage> {
    const known = {
      askersOf: (ids: readonly string[]) => this.#worker.ask("askers", ids),
      membersOf: (pool: string) => this.#worker.ask("members", pool),
    };
    const { id } = search.filter;
    const ends = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    const ended = AbortSignal.any(ends);
    return this.#searches.run(async () => {
      const firstSeq = id === undefined ? undefined : this.#history.reader.firstSeqOf(id);
      const reading = { firstSeq, isOnMainThread: true, signal: ended };
      return await withHolders(await findEvents(this.#journal, search, known, reading), known);
    }, ended);
  }

  /** The same for the audit. Rejects with `AuditUnavailable` or `StatsWorkerBusy`. */
  async askAudit(search: AuditSearch): Promise<AuditPage> {
    this.audit.mustBeOpen();
    await upToDate(this.audit);
    return this.#inMemory
      ? answerQuery(this.#sources, "audit", search)
      : this.#worker.ask("audit", search);
  }

  /** Tells whether the journal can be written, for the charts. */
  noteJournal(isWritable: boolean): void {
    this.#history.noteJournal(isWritable);
  }

  get #sources(): Sources {
    return {
      history: () => this.#history.reader,
      audit: () => new AuditReader(this.audit.store.database),
      journal: (search) => search(this.#journal),
    };
  }

  /** Must be called before the journal is closed. */
  async close(): Promise<void> {
    this.#closing.abort(closedWorker());
    await Promise.all([this.estimates.close(), this.#worker.close(), this.#futures.close()]);
    await Promise.all([this.#history.close(), this.audit.close()]);
  }
}

/** If it is not writable, it does not catch up, but it is still readable. */
async function upToDate(follower: Pick<History, "lag" | "caughtUp">): Promise<void> {
  if (follower.lag > lagWaitedFor) return;
  const late = new AbortController();
  const tooLate = setTimeout(waitMsMax, undefined, { signal: late.signal, ref: false });
  await Promise.race([follower.caughtUp(), tooLate.catch(() => {})]);
  late.abort();
}

function opener(options: StatsServiceOptions): () => HistoryStore {
  const { folder, anew, moved, failed, journalElsewhere } = options;
  if (folder === undefined) return () => HistoryStore.inMemory();
  let first = anew;
  return () => {
    const store = HistoryStore.open(historyPath(folder), {
      journalPath: journalElsewhere ? undefined : journalPath(folder),
      anew: first,
      moved: (entries) => entries > 0 && moved?.(entries),
      failed: (cause) => failed?.("dropping the old tables of history", cause),
    });
    first = false;
    return store;
  };
}

/**
 * The secret identifies the journal, but a reader of the history must not learn it, so it is
 * hashed.
 */
function idOf({ secret }: Pick<Journal, "secret">): string {
  return createHash("sha256").update(`history of ${secret}`).digest("base64url").slice(0, 22);
}
