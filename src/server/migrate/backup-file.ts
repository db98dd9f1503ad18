/**
 * A journal in one file, as the source or the target of a copy. Each line is a CRC-32 and a JSON text:
 * first the header, then a line for each commit, then the snapshot, then the end. A file without its
 * end, or with a line that was changed, is refused.
 */
import { createReadStream, existsSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { crc32 } from "node:zlib";
import { JournalUnusable, type Recorded, type Snapshot } from "../../journal/journal.ts";
import type { JournalSource, JournalTarget } from "./journal-copy.ts";

const format = "berth-journal-backup";
const formatVersion = 1;

interface Header {
  readonly format: typeof format;
  readonly version: number;
  readonly secret: string;
  readonly firstSeq: number;
}

type Line =
  | { readonly header: Header }
  | { readonly commit: Recorded }
  | { readonly snapshot: Snapshot }
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
  if (!existsSync(path)) throw unusable(path, "there is no such file");
  for await (const line of linesOf(path)) {
    if ("header" in line) header = line.header;
    if (header === undefined) break;
    if ("snapshot" in line) snapshot = line.snapshot;
    if ("end" in line) head = line.end.head;
  }
  if (header?.format !== format) throw unusable(path, "it is not a backup of a journal");
  if (header.version > formatVersion) throw unusable(path, "a newer Berth wrote it");
  if (head === undefined) throw damaged(path, "its end");
  return {
    name: path,
    ...{ secret: header.secret, firstSeq: header.firstSeq, head, snapshot },
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
    if (existsSync(this.name)) throw unusable(this.name, "it exists already");
    return undefined;
  }

  async begin(secret: string, firstSeq: number): Promise<void> {
    await rm(this.#partial, { force: true });
    this.#file = await open(this.#partial, "wx", 0o600);
    this.#head = firstSeq - 1;
    const header: Header = { format, version: formatVersion, secret, firstSeq };
    await this.#write([{ header }]);
  }

  async append(commits: readonly Recorded[]): Promise<void> {
    await this.#write(commits.map((commit) => ({ commit })));
    const last = commits.at(-1);
    if (last !== undefined) this.#head = last.seq + last.events.length - 1;
  }

  async finish(snapshot: Snapshot | undefined): Promise<void> {
    if (snapshot !== undefined) await this.#write([{ snapshot }]);
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

function unusable(path: string, state: string): JournalUnusable {
  return new JournalUnusable(`Cannot use the file "${path}": ${state}`, "Name another file");
}

function damaged(path: string, where: string): JournalUnusable {
  return new JournalUnusable(
    `Cannot use the backup "${path}": ${where} is damaged or missing`,
    "Use another backup, or a copy of this one",
  );
}
