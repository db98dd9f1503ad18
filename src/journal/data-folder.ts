import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { JournalUnusable } from "./journal.ts";

/**
 * Creates the folder if it is missing, for the owner only, because the journal contains the secret
 * of all lease tokens. An existing folder keeps its mode, which may be intended (a Kubernetes
 * volume belongs to a group). Throws `JournalUnusable` if it cannot be created.
 */
export function makeDataFolder(folder: string): void {
  try {
    makeFolder(resolve(folder));
  } catch (error) {
    throw folderFailure(error, folder);
  }
}

/**
 * Creates each level itself, because `recursive` reports a read-only file system as a missing path.
 */
function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!isFolder(folder)) throw error; // Otherwise another process was faster.
  }
  syncFolder(parent);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A new folder survives a power cut only after its parent folder was synced. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Creates an empty file that only its owner may read, or keeps the existing one. SQLite would make
 * it readable for all, and gives `-wal` and `-shm` the mode of the database.
 *
 * `wx` does more than avoid a race: it does not open an existing file. Closing any descriptor of a
 * file drops all POSIX locks of this process on it, so opening a locked file would unlock it.
 */
export function makePrivateFile(folder: string, path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw folderFailure(error, folder);
  }
}

/** Converts an error of the file system that a person can fix. Returns any other error unchanged. */
export function folderFailure(error: unknown, folder: string): unknown {
  const state = states[codeOf(error) ?? ""];
  if (!state) return error;
  const hint = "Name a folder that this user may write with --data, or change its owner";
  return new JournalUnusable(`Cannot use the data folder "${folder}": ${state}`, hint, {
    cause: error,
  });
}

const states: Readonly<Record<string, string>> = {
  EEXIST: "a file stands in its path",
  ENOTDIR: "a file stands in its path",
  ENOENT: "it cannot be made there",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
  ENOSPC: "its disk is full",
  ENAMETOOLONG: "its path is too long",
};

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
