/**
 * A journal in one file, as the source or the target of a copy. Each line is a CRC-32 and a JSON text:
 * first the header, then a line for each commit, then the snapshot, a line for each sealed secret, and the end. A file without its
 * end, or with a line that was changed, is refused.
 */
import { createReadStream, existsSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { crc32 } from "node:zlib";
import {
  JournalUnusable,
  mustKnowFormat,
  type Recorded,
  type Snapshot,
} from "../../journal/journal.ts";
import type { SealedName, SealedRow } from "../../journal/sealed-rows.ts";
import type { JournalSource, JournalTarget } from "./journal-copy.ts";

const format = "berth-journal-backup";
/** 2: with secrets, or with events of a later format. Berth before it would leave them out. */
const formatVersion = 2;

interface Header {
  readonly format: typeof format;
  readonly version: number;
  readonly secret: string;
  readonly firstSeq: number;
  /** The mark of the journal; absent: 1. */
  readonly journalFormat?: number;
}

interface SecretLine extends SealedName {
  readonly sealedAtMs: number;
  /** In base64. */
  readonly sealed: string;
}

type Line =
  | { readonly header: Header }
  | { readonly commit: Recorded }
  | { readonly snapshot: Snapshot }
  | { readonly secret: SecretLine }
  | { readonly end: { readonly head: number } };

function textOf(line: Line): string {
  const text = JSON.stringify(line);
  return `${crc32(text).toString(16).padStart(8, "0")} ${text}\n`;
}

async function* linesOf(path: string): AsyncIterable<Line> {
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: 0 })) {
    number += 1;
    const [checksum = "", json = ""] = [text.slice(0, 8), text.slice(9)];
    if (Number.parseInt(checksum, 16) !== crc32(json)) throw damaged(path, `line ${number}`);
    yield JSON.parse(json) as Line;
  }
}

/** Reads the whole file once, so that a damaged one is refused before anything is written. */
export async function backupSource(path: string): Promise<JournalSource> {
  let header: Header | undefined;
  let snapshot: Snapshot | undefined;
  let head: number | undefined;
  const sealed: SealedRow[] = [];
  if (!existsSync(path)) throw unusable(path, "there is no such file", "missing");
  for await (const line of linesOf(path)) {
    if ("header" in line) header = line.header;
    if (header === undefined) break;
    if ("snapshot" in line) snapshot = line.snapshot;
    if ("secret" in line) sealed.push(rowOf(line.secret));
    if ("end" in line) head = line.end.head;
  }
  if (header?.format !== format) throw unusable(path, "it is not a backup of a journal", "bad");
  if (header.version > formatVersion) throw unusable(path, "a newer Berth wrote it", "bad");
  if (head === undefined) throw damaged(path, "its end");
  const mark = header.journalFormat ?? 1;
  mustKnowFormat(mark, `"${path}"`);
  return {
    name: path,
    ...{ secret: header.secret, firstSeq: header.firstSeq, head, snapshot },
    format: mark,
    sealed,
    async *commits(seq) {
      for await (const line of linesOf(path)) {
        if (!("commit" in line)) continue;
        const { commit } = line;
        const skipped = Math.max(0, seq + 1 - commit.seq);
        if (skipped >= commit.events.length) continue;
        const events = commit.events.slice(skipped);
        yield skipped === 0 ? commit : { ...commit, seq: seq + 1, events };
      }
    },
    close: async () => {},
  };
}

/** Writes to a file beside it, which gets its name at the end. It is for the owner only. */
export class BackupTarget implements JournalTarget {
  readonly name: string;
  #file: FileHandle | undefined;
  #head = 0;

  constructor(path: string) {
    this.name = path;
  }

  async found(): Promise<undefined> {
    if (existsSync(this.name)) throw unusable(this.name, "it exists already", "wrong");
    return undefined;
  }

  async begin({ secret, firstSeq, format: mark, sealed }: JournalSource): Promise<void> {
    await rm(this.#partial, { force: true });
    this.#file = await open(this.#partial, "wx", 0o600);
    this.#head = firstSeq - 1;
    const isPlain = mark === 1 && sealed.length === 0;
    const more = mark === 1 ? undefined : { journalFormat: mark };
    const version = isPlain ? 1 : formatVersion;
    const header: Header = { format, version, secret, firstSeq, ...more };
    await this.#write([{ header }]);
  }

  async append(commits: readonly Recorded[]): Promise<void> {
    await this.#write(commits.map((commit) => ({ commit })));
    const last = commits.at(-1);
    if (last !== undefined) this.#head = last.seq + last.events.length - 1;
  }

  async finish({ snapshot, sealed }: JournalSource): Promise<void> {
    if (snapshot !== undefined) await this.#write([{ snapshot }]);
    await this.#write(sealed.map((row) => ({ secret: lineOf(row) })));
    await this.#write([{ end: { head: this.#head } }]);
    await this.#file?.sync();
    await this.#file?.close();
    this.#file = undefined;
    await rename(this.#partial, this.name);
  }

  open(): Promise<JournalSource> {
    return backupSource(this.name);
  }

  async close(): Promise<void> {
    if (this.#file === undefined) return;
    await this.#file.close();
    await rm(this.#partial, { force: true });
  }

  get #partial(): string {
    return `${this.name}.part`;
  }

  async #write(lines: readonly Line[]): Promise<void> {
    await this.#file?.write(lines.map(textOf).join(""));
  }
}

function lineOf({ kind, owner, sealedAtMs, sealed }: SealedRow): SecretLine {
  return { kind, owner, sealedAtMs, sealed: Buffer.from(sealed).toString("base64") };
}

function rowOf({ sealed, ...rest }: SecretLine): SealedRow {
  return { ...rest, sealed: Buffer.from(sealed, "base64") };
}

function unusable(path: string, state: string, input?: JournalUnusable["input"]): JournalUnusable {
  return new JournalUnusable(`Cannot use the file "${path}": ${state}`, "Name another file", {
    ...(input && { input }),
  });
}

function damaged(path: string, where: string): JournalUnusable {
  return new JournalUnusable(
    `Cannot use the backup "${path}": ${where} is damaged or missing`,
    "Use another backup, or a copy of this one",
    { input: "bad" },
  );
}
