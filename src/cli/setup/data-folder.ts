/** For commands that use a data folder while no server runs on it. */
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { flag } from "../flags.ts";
import { fromEnvironment } from "../values.ts";

export const offlineOptions = [
  flag("--data <dir>", "the server's data folder ($BERTH_DATA, else .berth)"),
];

export function dataFolder(given: string | undefined): string {
  return given ?? fromEnvironment("BERTH_DATA", (text) => text) ?? ".berth";
}

const journalErrors = new Set(["JournalUnusable", "JournalUnavailable", "JournalDamaged"]);

/** Adds a hint and an exit code to errors of the journal. Returns any other error unchanged. */
export function folderFailure(error: unknown, folder: string): unknown {
  if (!(error instanceof Error)) return error;
  if (!journalErrors.has(error.name)) return error;
  const own = "hint" in error && typeof error.hint === "string" ? error.hint : undefined;
  const hint = own ?? `Check the disk of "${folder}", or choose another folder with --data`;
  const input = "input" in error ? error.input : undefined;
  return new CliError(error.message, hint, exitCodeOf(input));
}

function exitCodeOf(input: unknown): number {
  switch (input) {
    case "missing":
      return exitCodes.notFound;
    case "bad":
      return exitCodes.badInput;
    case "wrong":
      return exitCodes.usage;
    default:
      return exitCodes.unreachable;
  }
}
