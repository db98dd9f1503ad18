import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { type ConfigText, parseText, readConfigText } from "./load.ts";
import type { ParsedConfig } from "./parse.ts";

export interface WatchOptions {
  /** So long a file must stay as it is before it is believed. */
  readonly settleMs?: number;
  /** Looks without being told, for file systems that tell nothing (NFS, some containers). */
  readonly pollMs?: number;
}

/**
 * Calls back with the new configuration, good or bad, whenever the file's content has changed: it
 * was written, replaced by a rename, swapped through a symbolic link as Kubernetes does it with a
 * ConfigMap, deleted (which is a bad configuration), or put back. A touch is no change.
 *
 * Start watching before the first `loadConfig`: a change in between is then told once too often
 * rather than never. Resolves once it watches. Does not keep the process alive. `onChange` must not
 * throw.
 */
export async function watchConfig(
  path: string,
  onChange: (config: ParsedConfig) => void,
  options: WatchOptions = {},
): Promise<ConfigWatch> {
  return new ConfigWatch(path, onChange, options, await readConfigText(path));
}

/** Made by `watchConfig`. */
export class ConfigWatch {
  readonly #path: string;
  readonly #onChange: (config: ParsedConfig) => void;
  readonly #settleMs: number;
  readonly #settle: Settle;
  readonly #poll: NodeJS.Timeout;
  #directory: FSWatcher | undefined;
  #next: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();
  #closed = false;

  constructor(
    path: string,
    onChange: (config: ParsedConfig) => void,
    { settleMs = 100, pollMs = 5_000 }: WatchOptions,
    first: ConfigText,
  ) {
    this.#path = path;
    this.#onChange = onChange;
    this.#settleMs = settleMs;
    this.#settle = new Settle(fingerprint(first));
    this.#watchDirectory();
    // What changed between the first reading and now was told to nobody.
    this.#lookSoon();
    this.#poll = setInterval(() => {
      if (this.#directory === undefined) this.#watchDirectory();
      this.#lookNow();
    }, pollMs).unref();
  }

  /** After this nothing is called any more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#next);
    this.#directory?.close();
    await this.#looking;
  }

  /**
   * The directory, because a file that is replaced takes a watch on itself with it. Any name in it
   * counts: behind a ConfigMap, what changes is called `..data`.
   */
  #watchDirectory(): void {
    try {
      const directory = watch(dirname(this.#path), { persistent: false }, () => this.#lookSoon());
      this.#directory = directory;
      directory.on("error", () => {
        directory.close();
        this.#directory = undefined; // The next poll tries again.
      });
    } catch {
      this.#directory = undefined; // No such directory, or no watches left: polling will do.
    }
  }

  /** Begins anew with each event, so that a file written in pieces is read once. */
  #lookSoon(): void {
    clearTimeout(this.#next);
    if (!this.#closed) this.#next = setTimeout(() => this.#lookNow(), this.#settleMs).unref();
  }

  #lookNow(): void {
    this.#looking = this.#looking.then(() => this.#look());
  }

  async #look(): Promise<void> {
    const read = await readConfigText(this.#path);
    if (this.#closed) return;
    const found = this.#settle.look(fingerprint(read));
    if (found === "look-again") this.#lookSoon();
    if (found === "changed") this.#onChange(parseText(read, this.#path));
  }
}

/** Why a file cannot be read matters: gone is another state than forbidden. */
function fingerprint(read: ConfigText): string {
  const content = read.ok ? `text ${read.text}` : `problem ${read.problem.message}`;
  return createHash("sha256").update(content).digest("hex");
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
