/** The options of `berth serve` for a journal in PostgreSQL, which several servers share. */
import type { ServeOptions } from "../../server/main.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { fromEnvironment } from "../values.ts";

export interface JournalFlags {
  readonly journal?: string;
  readonly advertise?: string;
  readonly memory?: boolean;
}

export const journalOptions = [
  flag(
    "--journal <url>",
    "postgres://HOST/DATABASE, shared by several servers ($BERTH_JOURNAL, else in the data folder)",
  ),
  flag(
    "--advertise <url>",
    "where the others on that journal reach this one ($BERTH_ADVERTISE, else where it listens)",
  ),
];

export function journalSettings(
  given: JournalFlags,
  note: (text: string) => void,
): Pick<ServeOptions, "advertise" | "journal"> {
  const journal = given.journal ?? fromEnvironment("BERTH_JOURNAL", (text) => text);
  const advertise = given.advertise ?? fromEnvironment("BERTH_ADVERTISE", (text) => text);
  if (journal === undefined) {
    if (given.advertise === undefined) return {};
    throw usageError(
      "Cannot use --advertise: it needs --journal",
      "Leave it out, or add --journal",
    );
  }
  if (given.memory) {
    throw usageError("Cannot use --memory with a journal in PostgreSQL", "Leave one of them out");
  }
  if (given.journal !== undefined && /:[^@/?]+@|[?&]password=/.test(given.journal.slice(11))) {
    note("Warning: everyone on this machine can read the password in the process list.");
    note("Put it into BERTH_JOURNAL or into a password file (PGPASSFILE).");
  }
  return { journal, ...(advertise === undefined ? undefined : { advertise }) };
}
