/**
 * Copies a journal from one place to another: between a data folder, PostgreSQL and a backup file.
 * Everything is kept: the secret, from which the tokens of all holders are derived, the numbers and
 * times of all events, and the snapshot.
 */
import { isDeepStrictEqual } from "node:util";
import { JournalUnusable, type Recorded, type Snapshot } from "../../journal/journal.ts";
import type { SealedRow } from "../../journal/sealed-rows.ts";

/** A journal as it was at one moment. */
export interface JournalSource {
  readonly name: string;
  readonly secret: string;
  /** The number of the first event that is kept, and of the last one. */
  readonly firstSeq: number;
  readonly head: number;
  readonly snapshot: Snapshot | undefined;
  /** The newest format of events that it may have. */
  readonly format: number;
  /** The secrets of its vault, sealed as they are. The keys are never copied. */
  readonly sealed: readonly SealedRow[];
  /** The commits after this event, up to `head`. Checks every checksum. */
  commits(seq: number): AsyncIterable<Recorded>;
  close(): Promise<void>;
}

export interface JournalTarget {
  readonly name: string;
  /** Undefined if it has no journal. */
  found(): Promise<{ readonly secret: string; readonly head: number } | undefined>;
  /** Begins an empty journal with the secret of the source. No server can use it until `finish`. */
  begin(source: JournalSource): Promise<void>;
  /** Appends all of them durably, or none. */
  append(commits: readonly Recorded[]): Promise<void>;
  /** Adds what is not an event: the snapshot, the mark of the format, the sealed secrets. */
  finish(source: JournalSource): Promise<void>;
  /** What was written, to compare it. */
  open(): Promise<JournalSource>;
  close(): Promise<void>;
}

export interface CopyReport {
  readonly firstEvent: number;
  readonly lastEvent: number;
  readonly snapshotOfEvent: number | null;
  readonly secrets: number;
  /** An earlier copy that was interrupted had these already. */
  readonly skipped: number;
}

/** Events that are written in one transaction. */
const chunkEvents = 2_000;

const copyHint =
  "A server has used it since an earlier copy. Copy in the other direction, or choose another place";

/** Throws `JournalUnusable` if the target has another journal, or if the copy is not the same. */
export async function copyJournal(
  source: JournalSource,
  target: JournalTarget,
  hintIfAhead = copyHint,
): Promise<CopyReport> {
  const found = await target.found();
  if (found !== undefined && found.secret !== source.secret) throw occupied(target);
  if (found !== undefined && found.head > source.head) throw ahead(target, hintIfAhead);
  if (found === undefined) await target.begin(source);
  const start = Math.max(found?.head ?? 0, source.firstSeq - 1);
  let chunk: Recorded[] = [];
  let events = 0;
  for await (const commit of source.commits(start)) {
    chunk.push(commit);
    events += commit.events.length;
    if (events < chunkEvents) continue;
    await target.append(chunk);
    [chunk, events] = [[], 0];
  }
  if (chunk.length > 0) await target.append(chunk);
  await target.finish(source);
  await mustEqual(source, target);
  return {
    firstEvent: source.firstSeq,
    lastEvent: source.head,
    snapshotOfEvent: source.snapshot?.seq ?? null,
    secrets: source.sealed.length,
    skipped: start - (source.firstSeq - 1),
  };
}

/** Reads both, and compares every event. */
async function mustEqual(source: JournalSource, target: JournalTarget): Promise<void> {
  const copy = await target.open();
  try {
    const isSame = copy.secret === source.secret && copy.head === source.head;
    if (!isSame || !isDeepStrictEqual(copy.snapshot, source.snapshot))
      throw different(target, "end");
    if (copy.format < source.format) throw different(target, "the mark of its format");
    if (!source.sealed.every((row) => hasRow(copy.sealed, row))) throw different(target, "vault");
    const written = copy.commits(source.firstSeq - 1)[Symbol.asyncIterator]();
    for await (const commit of source.commits(source.firstSeq - 1)) {
      const { value } = await written.next();
      if (!isDeepStrictEqual(value, commit)) throw different(target, `event ${commit.seq}`);
    }
    if (!(await written.next()).done) throw different(target, "end");
  } finally {
    await copy.close();
  }
}

/** Drivers of databases return different kinds of byte arrays. */
function hasRow(rows: readonly SealedRow[], wanted: SealedRow): boolean {
  return rows.some(
    ({ kind, owner, sealed }) =>
      kind === wanted.kind &&
      owner === wanted.owner &&
      Buffer.compare(Buffer.from(sealed), Buffer.from(wanted.sealed)) === 0,
  );
}

function occupied({ name }: JournalTarget): JournalUnusable {
  return new JournalUnusable(
    `Cannot copy to ${name}: it has another journal`,
    "Choose an empty folder, or another schema with ?schema=NAME",
  );
}

function ahead({ name }: JournalTarget, hint: string): JournalUnusable {
  return new JournalUnusable(`Cannot copy to ${name}: it has later events than the source`, hint);
}

function different({ name }: JournalTarget, where: string): JournalUnusable {
  return new JournalUnusable(
    `Cannot trust the copy in ${name}: it differs from the source at ${where}`,
    "Was a server running meanwhile? Stop it, remove the copy and repeat",
  );
}
