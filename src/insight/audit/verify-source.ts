/** Verifies the audit of a data folder, or an export of it, without changing it. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { auditPath, readAuditFile } from "./audit-file.ts";
import { entryOfLine } from "./chain.ts";
import { allEntries, recordedIn } from "./reader.ts";
import { type AuditReport, ChainCheck, type VerifyOptions } from "./verify.ts";

/** A server may run on the folder. Throws `JournalUnusable` if there is no audit. */
export function verifyFolder(folder: string, options: VerifyOptions): AuditReport {
  using database = readAuditFile(auditPath(folder));
  const check = new ChainCheck(options);
  try {
    for (const row of database.prepare("PRAGMA integrity_check(20)").iterate()) {
      const text = String(row["integrity_check"]);
      if (text !== "ok") check.report("the file", text.trim());
    }
    // Before the entries: a server that runs may write the first ones now.
    check.expectRecorded(recordedIn(database));
    for (const entry of allEntries(database)) check.add(entry);
  } catch (error) {
    check.report("the file", error instanceof Error ? error.message : String(error));
  }
  return check.finish();
}

/** An export may be of a part of the time, so that it may begin anywhere. */
export async function verifyExport(file: string, options: VerifyOptions): Promise<AuditReport> {
  const check = new ChainCheck({ ...options, isPart: true });
  let number = 0;
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Infinity,
  })) {
    number += 1;
    if (line === "") continue;
    const entry = entryOfLine(line);
    if (entry === undefined) check.report(`line ${number}`, "it is not as Berth has written it");
    else check.add(entry);
  }
  return check.finish();
}
