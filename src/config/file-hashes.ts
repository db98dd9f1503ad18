import { type BigIntStats, statSync } from "node:fs";
import { hashOfFile } from "./revision.ts";

/**
 * Two changes in one tick of the file system's clock leave the same times. A file that was changed
 * longer ago than this cannot be changed again without another time.
 */
const settledMs = 2_000;

/**
 * Hashes of files that are asked for often. A file is read again only if the file system says that
 * it has changed: a driver's program can have a hundred megabytes, and nothing is answered while it
 * is read.
 */
export class FileHashes {
  readonly #now: () => number;
  readonly #hashOf: (path: string) => string | undefined;
  readonly #known = new Map<string, { readonly stamp: string; readonly hash: string }>();

  constructor({ now = Date.now, hashOf = hashOfFile } = {}) {
    this.#now = now;
    this.#hashOf = hashOf;
  }

  /** Undefined if the file cannot be read. */
  of(path: string): string | undefined {
    const stamp = stampOf(path, this.#now()); // Before the content: a change in between is found the next time.
    const known = this.#known.get(path);
    if (known !== undefined && known.stamp === stamp) return known.hash;
    const hash = this.#hashOf(path);
    if (hash === undefined || stamp === undefined) this.#known.delete(path);
    else this.#known.set(path, { stamp, hash });
    return hash;
  }
}

/** Changes with the content; undefined if the file is gone, or has changed just now. */
function stampOf(path: string, nowMs: number): string | undefined {
  try {
    const about = statSync(path, { bigint: true });
    return isSettled(about, nowMs) ? textOf(about) : undefined;
  } catch {
    return undefined;
  }
}

/** Programs cannot choose the time of the last change, `ctime`, as they can choose `mtime`. */
function isSettled({ ctimeMs }: BigIntStats, nowMs: number): boolean {
  return nowMs - Number(ctimeMs) > settledMs;
}

function textOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}
