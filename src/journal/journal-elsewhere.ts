/**
 * A data folder of a server whose journal is in a database says so in a file. Without it, a server that
 * is started without the address of that journal would begin a journal of its own in the folder, and
 * lend what the others have lent.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JournalUnusable } from "./journal.ts";

function markPath(folder: string): string {
  return join(folder, "journal-elsewhere");
}

/** `name`: where the journal is, without a password. */
export function markElsewhere(folder: string, name: string): void {
  if (readMark(folder) !== name) writeFileSync(markPath(folder), `${name}\n`, { mode: 0o600 });
}

/** The folder has a journal of its own again. */
export function forgetElsewhere(folder: string): void {
  rmSync(markPath(folder), { force: true });
}

/** Throws `JournalUnusable` if the journal of the servers of this folder is elsewhere. */
export function mustBeHere(folder: string): void {
  const name = readMark(folder);
  if (name === undefined) return;
  throw new JournalUnusable(
    `Cannot use a journal in "${folder}": the journal of its servers is ${name}`,
    `Name that one with --journal or BERTH_JOURNAL. If nobody uses it any longer, delete ${markPath(folder)}`,
  );
}

function readMark(folder: string): string | undefined {
  if (!existsSync(markPath(folder))) return undefined;
  return readFileSync(markPath(folder), "utf8").trim();
}
