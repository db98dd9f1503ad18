/** Verifies a journal in PostgreSQL, without changing it; servers may use it meanwhile. */
import { PostgresCopy } from "../journal/postgres/copy.ts";
import { ContentCheck } from "./check-content.ts";
import type { JournalReport } from "./check-journal.ts";

export async function checkPostgres(address: string): Promise<JournalReport> {
  const journal = await PostgresCopy.open(address);
  const content = new ContentCheck();
  try {
    // The end first: commits that follow meanwhile are read too, and belong to it.
    const end = await journal.end();
    const snapshot = await journal.snapshot().catch((error: Error) => error);
    if (snapshot instanceof Error) content.report("the snapshot", snapshot.message);
    else content.attempt("the snapshot", () => content.checkSnapshot(snapshot));
    let isEndFound = end.head === 0;
    for await (const commit of journal.rows()) {
      content.checkCommit(commit);
      isEndFound ||= content.head === end.head && commit.checksum === end.checksum;
    }
    if (!isEndFound) content.report("the end", `event ${end.head} is not the one that was written`);
    return { file: journal.name, ...content.result };
  } finally {
    await journal.close();
  }
}
