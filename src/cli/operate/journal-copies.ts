/** `berth journal copy`, `berth backup` and `berth restore`. */
import type { CopyReport } from "../../server/migrate/journal-copy.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { dataFolder, folderFailure, offlineOptions } from "../setup/data-folder.ts";
import { fromEnvironment } from "../values.ts";

interface PlaceFlags {
  readonly data?: string;
  readonly journal?: string;
}

export const placeOptions = [
  ...offlineOptions,
  flag("--journal <url>", "instead of the data folder: postgres://HOST/DATABASE ($BERTH_JOURNAL)"),
];

/** The journal of the server: the address of one in PostgreSQL, or the data folder. */
export function journalPlace({ data, journal }: PlaceFlags): string {
  if (data !== undefined && journal !== undefined) {
    throw usageError("Cannot use --data and --journal", "Name one journal");
  }
  if (data !== undefined) return data;
  return journal ?? fromEnvironment("BERTH_JOURNAL", (text) => text) ?? dataFolder(undefined);
}

async function orFail<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    throw folderFailure(error, "the journal");
  });
}

function contentOf(report: CopyReport): string {
  const { firstEvent, lastEvent, snapshotOfEvent, secrets, skipped } = report;
  const events = lastEvent < firstEvent ? "no events" : `events ${firstEvent} to ${lastEvent}`;
  const snapshot = snapshotOfEvent === null ? "" : `, a snapshot of event ${snapshotOfEvent}`;
  const before = skipped === 0 ? "" : `; ${skipped} were there already`;
  const vault =
    secrets === 0
      ? ""
      : `, ${secrets} sealed ${secrets === 1 ? "secret" : "secrets"} without the keys`;
  return `${events}${snapshot}${vault}${before}; every event was compared`;
}

export const copyCommand: CliCommand = {
  options: [
    flag("--from <place>", "a data folder, or postgres://HOST/DATABASE"),
    flag("--to <place>", "an empty data folder, or postgres://HOST/DATABASE"),
  ],
  help: `
Moves the journal of a stopped server to PostgreSQL, or back. Holders and waiting requests keep their
leases, tokens and places. If it is interrupted, repeat it: it goes on where it ended. Do not start a
server on the source afterwards: both would lend the same resources.`,
  async run({ flags, print }) {
    const { from, to } = flags<{ from?: string; to?: string }>();
    if (from === undefined || to === undefined) {
      throw usageError("Cannot copy: --from and --to are needed", "See berth journal copy --help");
    }
    const { copyPlace } = await import("../../server/migrate/journal-places.ts");
    print(`Copied ${contentOf(await orFail(copyPlace(from, to)))}`);
    return exitCodes.ok;
  },
};

export const backup: CliCommand = {
  args: [["<file>", "a new file"]],
  options: placeOptions,
  help: `
Saves the journal in one file, also while servers use it. Keep the file secret: tokens of leases can be
derived from it. The secrets of the vault are in it, sealed as they are; the key file (vault.key) is not, and
nothing opens them without it. Past leases are in history.db of the data folder, which is not included.`,
  async run({ args: [file = ""], flags, print }) {
    const { backUp } = await import("../../server/migrate/journal-places.ts");
    print(`Saved ${contentOf(await orFail(backUp(journalPlace(flags<PlaceFlags>()), file)))}`);
    return exitCodes.ok;
  },
};

export const restore: CliCommand = {
  args: [["<file>", "made by berth backup"]],
  options: placeOptions,
  help: "\nThe data folder or the schema must be empty, and no server may use it.",
  async run({ args: [file = ""], flags, print }) {
    const { restoreFrom } = await import("../../server/migrate/journal-places.ts");
    const place = journalPlace(flags<PlaceFlags>());
    print(`Restored ${contentOf(await orFail(restoreFrom(file, place)))}`);
    return exitCodes.ok;
  },
};
