import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

export interface WatchOptions {
  /** How long the files must stay unchanged before the new content counts. */
  readonly settleMs?: number;
  /** Reads the files this often, for file systems without events (NFS, some containers). */
  readonly pollMs?: number;
}

/** Files that are read together, and what to do when their content changes. */
export interface WatchedFiles<Content> {
  readonly paths: readonly string[];
  readonly read: () => Promise<Content>;
  /** Equal texts mean equal content. An unreadable file is content too: gone is not forbidden. */
  readonly describe: (content: Content) => string;
  /** Must not throw. */
  readonly onChange: (content: Content) => void;
}

/**
 * Reports each change of the files' content: they were written, replaced by a rename, swapped
 * through a symbolic link as Kubernetes does it with a ConfigMap or Secret, deleted or restored. A
 * touch is no change. Does not keep the process alive.
 *
 * Start watching before the first use of the files: then a change in between is reported once too
 * often rather than never.
 */
export class FileWatch<Content> {
  readonly #files: WatchedFiles<Content>;
  readonly #settleMs: number;
  readonly #settle: Settle;
  readonly #poll: NodeJS.Timeout;
  readonly #watchers = new Map<string, FSWatcher>();
  #next: NodeJS.Timeout | undefined;
  #reading = Promise.resolve();
  #closed = false;

  /** `first` is the content that the caller knows already. */
  constructor(
    files: WatchedFiles<Content>,
    first: Content,
    { settleMs = 100, pollMs = 5_000 }: WatchOptions = {},
  ) {
    this.#files = files;
    this.#settleMs = settleMs;
    this.#settle = new Settle(fingerprint(files.describe(first)));
    this.#watchDirectories();
    // No event reports a change between the first reading and now.
    this.#readSoon();
    this.#poll = setInterval(() => {
      this.#watchDirectories();
      this.#readNow();
    }, pollMs).unref();
  }

  /** After this nothing is reported any more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#next);
    for (const watcher of this.#watchers.values()) watcher.close();
    await this.#reading;
  }

  /**
   * Watches the directories, because the watch on a file ends when the file is replaced. Any name
   * counts: behind a ConfigMap the name that changes is `..data`.
   */
  #watchDirectories(): void {
    for (const directory of new Set(this.#files.paths.map((path) => dirname(path)))) {
      if (!this.#watchers.has(directory)) this.#watchDirectory(directory);
    }
  }

  #watchDirectory(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, () => this.#readSoon());
      this.#watchers.set(directory, watcher);
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(directory); // The next poll tries again.
      });
    } catch {
      // No such directory, or no watches left: polling is enough.
    }
  }

  /** Starts again with each event, so that a file that is written in pieces is read once. */
  #readSoon(): void {
    clearTimeout(this.#next);
    if (!this.#closed) this.#next = setTimeout(() => this.#readNow(), this.#settleMs).unref();
  }

  #readNow(): void {
    this.#reading = this.#reading.then(() => this.#read());
  }

  async #read(): Promise<void> {
    const content = await this.#files.read();
    if (this.#closed) return;
    const found = this.#settle.look(fingerprint(this.#files.describe(content)));
    if (found === "look-again") this.#readSoon();
    if (found === "changed") this.#files.onChange(content);
  }
}

/** A hash, so that no secret stays in memory only to be compared. */
function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Tells a file that has changed from one that is only being touched or is still being written:
 * new content counts once it has been seen twice in a row.
 */
export class Settle {
  #settled: string;
  #seen: string | undefined;

  constructor(fingerprint: string) {
    this.#settled = fingerprint;
  }

  /** `look-again` soon: what was read may be half of what is being written. */
  look(fingerprint: string): "unchanged" | "look-again" | "changed" {
    const before = this.#seen;
    this.#seen = fingerprint;
    if (fingerprint === this.#settled) return "unchanged";
    if (fingerprint !== before) return "look-again";
    this.#settled = fingerprint;
    return "changed";
  }
}
