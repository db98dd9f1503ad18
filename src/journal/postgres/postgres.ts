import type { DurableEvent } from "../../core/model/event.ts";
import type { Instant } from "../../core/model/time.ts";
import {
  type CheckedCommit,
  CommitChain,
  commitChecksum,
  damagedCommit,
  snapshotChecksum,
} from "../checksum.ts";
import { formatOf, journalFormat } from "../format.ts";
import {
  closedJournal,
  JournalConflict,
  misplacedSnapshot,
  prunedEvents,
  type Recorded,
  recordedAfter,
  type Snapshot,
  type StoredCommit,
  staleHead,
  storedCommit,
} from "../journal.ts";
import type { SealedRows } from "../sealed-rows.ts";
import type {
  JournalWatcher,
  KnownReplica,
  ReplicaReport,
  SharedJournal,
  Standing,
} from "../shared-journal.ts";
import { parsePostgresAddress } from "./address.ts";
import { Connections } from "./connections.ts";
import type { Database, Row, Statement } from "./database.ts";
import { ConnectionLost, isTransient } from "./failure.ts";
import { commitFrom, snapshotFrom } from "./rows.ts";
import { prepareSchema } from "./schema.ts";
import { PostgresSealedRows } from "./sealed-rows.ts";
import { pruneChunk, type Statements, statementsFor } from "./statements.ts";

/** How long one attempt to append may take, and how often it is repeated if the answer is lost. */
const appendMsMax = 2_000;
const appendTries = 4;
/** Shorter than a lease, so that a renewal on a dead connection can be repeated in time. */
const renewMsMax = 600;
const urgently = { timeoutMs: appendMsMax, urgent: true } as const;

interface JournalParts {
  readonly database: Database;
  readonly schema: string;
  readonly secret: string;
  /** Its mark: the newest format of events that it may have. */
  readonly format: number;
}

interface JournalEnd {
  readonly head: number;
  readonly checksum: number;
}

/**
 * A journal in a schema of a PostgreSQL database, which several replicas share. Each commit is one
 * row and one statement, which checks the head and the epoch (`0023-journal-on-postgresql.md`).
 */
export class PostgresJournal implements SharedJournal {
  readonly secret: string;
  readonly sealedRows: SealedRows;
  readonly #database: Database;
  readonly #sql: Statements;
  readonly #channel: string;
  #epoch: number | null = null;
  /** Of the last claim or renewal. Each commit renews it for as long. */
  #leaseMs = 0;
  #sending: () => () => void = () => () => {};
  #end: JournalEnd;
  #bytes: number;
  #snapshotBytes: number;
  #appending: Promise<unknown> = Promise.resolve();
  /** A commit that was read ended right before this event, so that another one begins with it. */
  #readUntil = 1;
  /**
   * An append failed and may still be written, even if its connection is long closed: what was sent
   * may arrive late. Before anything is read or written, a new epoch must begin.
   */
  #isUnsure = false;
  #format: number;

  private constructor(parts: JournalParts, last: Row) {
    this.#database = parts.database;
    this.#sql = statementsFor(parts.schema);
    this.#channel = channelOf(parts.schema);
    this.secret = parts.secret;
    this.sealedRows = new PostgresSealedRows(parts.database, this.#sql, () => this.#epoch);
    this.#format = parts.format;
    this.#end = { head: Number(last["head"]), checksum: Number(last["head_checksum"]) };
    this.#bytes = Number(last["bytes"]);
    this.#snapshotBytes = Number(last["snapshot_bytes"]);
  }

  /**
   * Creates the schema if it is missing. Throws `JournalUnusable` if it cannot be used or its end is
   * damaged, and `JournalUnavailable` if the database cannot be reached.
   */
  static async open(address: string): Promise<PostgresJournal> {
    const parsed = parsePostgresAddress(address);
    const { schema } = parsed;
    const connections = await Connections.open(parsed);
    try {
      const meta = await prepareSchema(connections, schema);
      return await PostgresJournal.openIn({ database: connections, schema, ...meta });
    } catch (error) {
      await connections.close();
      throw error;
    }
  }

  /** The same in a database whose schema is there. */
  static async openIn(parts: JournalParts): Promise<PostgresJournal> {
    const sql = statementsFor(parts.schema).lastCommit;
    const [last] = await parts.database.run({ verb: "open", sql });
    if (last === undefined) throw damagedCommit(1, "the table head is empty");
    checkEnd(last);
    return new PostgresJournal(parts, last);
  }

  /** Where the journal is, without the password. */
  get name(): string {
    return this.#database.name;
  }

  get head(): number {
    return this.#end.head;
  }

  get bytes(): number {
    return this.#bytes + this.#snapshotBytes;
  }

  get format(): number {
    return this.#format;
  }

  /** One at a time: the next one follows the checksum of the one before. */
  append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number> {
    const run = async () => {
      const commit = storedCommit(head, at, events);
      mustBeAllowed(events, this.#format);
      await this.#makeSure();
      const epoch = this.#epoch;
      if (epoch === null) {
        if (!this.#database.isOpen) throw closedJournal("append to");
        throw notLeading();
      }
      this.#isUnsure = commit.count > 0;
      const bytes =
        commit.count === 0 ? await this.#probe(head, epoch) : await this.#write(commit, epoch);
      // An answer has come: no attempt is under way that could still write it.
      this.#isUnsure = false;
      if (bytes === undefined) {
        await this.#readEnd(epoch);
        throw staleHead(head, this.head);
      }
      this.#bytes = bytes;
      return this.head;
    };
    const result = this.#appending.then(run);
    this.#appending = result.catch(() => {});
    return result;
  }

  /** Returns undefined if the journal does not end right before the commit, or another one leads. */
  async #write(commit: StoredCommit, epoch: number): Promise<number | undefined> {
    if (commit.seq !== this.head + 1) return undefined;
    const { seq, at, count, events } = commit;
    const previous = this.#end.checksum;
    const checksum = commitChecksum(previous, commit);
    const values = [
      ...[seq, at, count, events, previous, checksum, epoch],
      ...[this.#channel, this.#leaseMs],
    ];
    const written = this.#sending();
    const append = { verb: "append to", sql: this.#sql.append, values, ...urgently, goesOn: true };
    let [row, isRepeated] = await this.#untilAnswered(append);
    if (row === undefined && isRepeated) {
      // An attempt whose answer was lost may have written it, even if another replica leads now.
      const find = { verb: "append to", sql: this.#sql.written, values: [seq, checksum, epoch] };
      [row] = await this.#untilAnswered({ ...find, urgent: true });
    }
    if (row === undefined) return undefined;
    this.#end = { head: seq + count - 1, checksum };
    written();
    return Number(row["bytes"]);
  }

  /**
   * If the connection is lost, nobody knows whether the commit was written, and it may still be under
   * way in the database. The same statement is sent again: it waits for the first one, and then either
   * writes the commit, or finds that it is not needed. So the outcome is never guessed.
   */
  async #untilAnswered(statement: Statement): Promise<[Row | undefined, boolean]> {
    for (let tries = 1; ; tries += 1) {
      try {
        const [row] = await this.#run(statement);
        return [row, tries > 1];
      } catch (error) {
        const again = error instanceof ConnectionLost || isTransient((error as Error).cause);
        if (!again || tries >= appendTries) throw error;
      }
    }
  }

  async #probe(head: number, epoch: number): Promise<number | undefined> {
    const values = [head, epoch];
    const probe = { verb: "append to", sql: this.#sql.probe, values, ...urgently };
    const [row] = await this.#run(probe);
    return row === undefined ? undefined : Number(row["bytes"]);
  }

  /** Throws `JournalConflict` if another replica leads. */
  async #readEnd(epoch: number): Promise<void> {
    const [row] = await this.#run({ verb: "append to", sql: this.#sql.head, urgent: true });
    if (Number(row?.["epoch"]) !== epoch) {
      this.#epoch = null;
      throw notLeading();
    }
    this.#end = { head: Number(row?.["seq"]), checksum: Number(row?.["checksum"]) };
  }

  /** After an append with an unknown outcome: it is written by now, or never will be. */
  async #makeSure(): Promise<void> {
    const epoch = this.#epoch;
    if (!this.#isUnsure || epoch === null) return;
    const fence = { verb: "read", sql: this.#sql.fence, values: [epoch], ...urgently };
    const [row] = await this.#run(fence);
    if (this.#epoch !== epoch) return;
    this.#isUnsure = false;
    this.#epoch = row === undefined ? null : Number(row["epoch"]);
    if (row !== undefined) {
      this.#end = { head: Number(row["seq"]), checksum: Number(row["checksum"]) };
    }
  }

  /** Each page is one statement, so no transaction stays open while the consumer works. */
  async *read(seq: number): AsyncIterable<Recorded> {
    await this.#makeSure();
    const chain = new CommitChain(1);
    let next = seq + 1;
    let isFirst = true;
    for (;;) {
      const { commits, head } = await this.#readPage(isFirst ? await this.#start(next) : next);
      for (const commit of commits) {
        if (isFirst && commit.seq < next) next = commit.seq;
        isFirst = false;
        if (commit.seq !== next) throw prunedEvents(next, commit.seq);
        chain.check(commit);
        yield recordedAfter(seq, commit);
        next = commit.seq + commit.count;
        this.#readUntil = next;
      }
      if (next > Math.max(head, this.head)) return;
      if (commits.length === 0) await this.#mustBeThere(next);
    }
  }

  /** A reader may stop in the middle of a commit. */
  async #start(event: number): Promise<number> {
    if (event === this.head + 1 || event === 1 || event === this.#readUntil) return event;
    const found = await this.#run({ verb: "read", sql: this.#sql.commitWith, values: [event] });
    return Number(found[0]?.["seq"] ?? event);
  }

  async #readPage(from: number): Promise<{ commits: readonly CheckedCommit[]; head: number }> {
    const rows = await this.#run({ verb: "read", sql: this.#sql.page, values: [from] });
    const head = Number(rows[0]?.["head"] ?? 0);
    return { commits: rows.filter(({ seq }) => seq !== null).map(commitFrom), head };
  }

  /** No commit in reach: so much was pruned that the oldest one is beyond it, or it is missing. */
  async #mustBeThere(next: number): Promise<void> {
    const rows = await this.#run({ verb: "read", sql: this.#sql.nextCommit, values: [next - 1] });
    const later = rows[0]?.["seq"] ?? null;
    if (later === null) throw damagedCommit(next, "it is missing");
    if (Number(later) > next) throw prunedEvents(next, Number(later));
  }

  async search(text: string, from: number, to: number): Promise<readonly Recorded[]> {
    const values = [from, Math.min(to, Number.MAX_SAFE_INTEGER), text];
    const rows = await this.#run({ verb: "search", sql: this.#sql.search, values });
    return rows.map((row) => {
      const commit = commitFrom(row);
      new CommitChain(1).check(commit);
      return recordedAfter(0, commit);
    });
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    const { seq, at, state } = snapshot;
    const values = [seq, at, state, snapshotChecksum(snapshot)];
    const verb = "save a snapshot in";
    const saved = await this.#run({ verb, sql: this.#sql.saveSnapshot, values });
    if (saved.length === 1) {
      this.#snapshotBytes = state.length;
      return;
    }
    const last = await this.loadSnapshot();
    throw misplacedSnapshot(snapshot, last?.seq ?? 0, this.head);
  }

  async loadSnapshot(): Promise<Snapshot | undefined> {
    await this.#makeSure();
    const verb = "load a snapshot from";
    const [row] = await this.#run({ verb, sql: this.#sql.loadSnapshot });
    return snapshotFrom(row);
  }

  async prune(before: Instant, bytesMax = Number.POSITIVE_INFINITY): Promise<number> {
    let pruned = 0;
    let chunk = pruneChunk;
    for (; chunk === pruneChunk; pruned += chunk) chunk = await this.#pruneChunk(before);
    for (chunk = 1; chunk > 0 && this.bytes > bytesMax; pruned += chunk) {
      chunk = await this.#pruneChunk(Number.MAX_SAFE_INTEGER);
    }
    return pruned;
  }

  async #pruneChunk(before: number): Promise<number> {
    const [row] = await this.#run({ verb: "prune", sql: this.#sql.prune, values: [before] });
    this.#bytes = Number(row?.["bytes"]);
    return Number(row?.["pruned"]);
  }

  async look(): Promise<Standing> {
    const [row = {}] = await this.#run({
      verb: "read",
      sql: this.#sql.look,
      ...urgently,
    });
    return standingFrom(row);
  }

  async claim(
    { id, address }: Pick<ReplicaReport, "id" | "address">,
    leaseMs: number,
  ): Promise<Standing | undefined> {
    const values = [id, address, leaseMs, this.#channel];
    const [row] = await this.#run({ verb: "lead", sql: this.#sql.claim, values, ...urgently });
    if (row === undefined) return undefined;
    this.#leaseMs = leaseMs;
    this.#epoch = Number(row["epoch"]);
    this.#end = { head: Number(row["seq"]), checksum: Number(row["checksum"]) };
    this.#bytes = Number(row["bytes"]);
    this.#isUnsure = false;
    return standingFrom(row);
  }

  renewWithCommits(sending: () => () => void): void {
    this.#sending = sending;
  }

  async renew(leaseMs: number): Promise<Standing | undefined> {
    const epoch = this.#epoch;
    if (epoch === null) return undefined;
    const values = [epoch, leaseMs];
    this.#leaseMs = leaseMs;
    const limits = { timeoutMs: renewMsMax, urgent: true };
    const [row] = await this.#run({ verb: "lead", sql: this.#sql.renew, values, ...limits });
    if (row !== undefined) return standingFrom(row);
    if (this.#epoch === epoch) this.#epoch = null;
    return undefined;
  }

  async resign(): Promise<void> {
    await this.#appending;
    const epoch = this.#epoch;
    this.#epoch = null;
    if (epoch === null) return;
    const values = [epoch, this.#channel];
    await this.#run({ verb: "resign from", sql: this.#sql.resign, values, ...urgently });
  }

  async report({ id, address, version, seq }: ReplicaReport): Promise<void> {
    const values = [id, address, version, seq, journalFormat];
    await this.#run({ verb: "report to", sql: this.#sql.report, values });
  }

  async raiseFormat(format = journalFormat): Promise<number> {
    if (this.#format >= format) return this.#format;
    const values = [format];
    const [row] = await this.#run({ verb: "report to", sql: this.#sql.raiseFormat, values });
    this.#format = Number(row?.["format"] ?? this.#format);
    return this.#format;
  }

  async forget(id: string): Promise<void> {
    await this.#run({ verb: "report to", sql: this.#sql.forget, values: [id] });
  }

  async replicas(): Promise<readonly KnownReplica[]> {
    const rows = await this.#run({ verb: "read", sql: this.#sql.replicas });
    return rows.map((row) => ({
      id: String(row["id"]),
      address: textOrNull(row["address"]),
      version: String(row["version"]),
      seq: Number(row["seq"]),
      startedAtMs: Math.round(Number(row["started_ms"])),
      silentMs: Math.max(0, Math.round(Number(row["silent_ms"]))),
    }));
  }

  watch(watcher: JournalWatcher): { readonly isLive: boolean; stop(): void } {
    return this.#database.watch(this.#channel, watcher);
  }

  async close(): Promise<void> {
    await this.#appending;
    this.#epoch = null;
    await this.#database.close();
  }

  #run(statement: Statement): Promise<Row[]> {
    if (!this.#database.isOpen) return Promise.reject(closedJournal(statement.verb));
    return this.#database.run(statement);
  }
}

/** A bug: a rule of the core writes such events only once the mark of the journal allows it. */
function mustBeAllowed(events: readonly DurableEvent[], format: number): void {
  const needed = formatOf(events);
  if (needed <= format) return;
  throw new RangeError(
    `Cannot append events of format ${needed}: some servers read only up to ${format}`,
  );
}

function channelOf(schema: string): string {
  return `berth_${schema}`;
}

/** Throws `JournalUnusable` if the last commit is damaged or is not the one that the head names. */
function checkEnd(last: Row): void {
  const [head, checksum] = [Number(last["head"]), Number(last["head_checksum"])];
  if (last["seq"] === null) {
    if (head > 0) throw damagedCommit(head, "it is missing");
    return;
  }
  const commit = commitFrom(last);
  new CommitChain(1).check(commit);
  const isSame = commit.seq + commit.count - 1 === head && commit.checksum === checksum;
  if (!isSame) throw damagedCommit(head, "it is not the last one that was written");
}

function standingFrom(row: Row): Standing {
  const replica = textOrNull(row["leader"]);
  const address = textOrNull(row["address"]);
  return {
    head: Number(row["seq"]),
    epoch: Number(row["epoch"]),
    leader:
      replica === null ? null : { replica, address, sinceMs: Math.round(Number(row["since_ms"])) },
    remainingMs: Math.ceil(Number(row["remaining_ms"])),
    nowMs: Math.round(Number(row["now_ms"])),
  };
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function notLeading(): JournalConflict {
  return new JournalConflict("Cannot append to the journal: another replica leads");
}
