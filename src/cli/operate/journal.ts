import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JournalReport } from "../../server/check-journal.ts";
import type { SkipReport } from "../../server/skip-events.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { dataFolder, folderFailure, offlineOptions } from "../setup/data-folder.ts";
import { formatData } from "../show/listing.ts";
import { copyCommand, journalPlace, placeOptions } from "./journal-copies.ts";

interface Flags {
  readonly data?: string;
  readonly journal?: string;
  readonly output: "table" | "json" | "yaml";
}

function existingFolder(data: string | undefined): string {
  const folder = dataFolder(data);
  if (existsSync(join(folder, "journal.db"))) return folder;
  const hint = "Pass the server's data folder with --data";
  throw new CliError(`Cannot check "${folder}": it has no journal`, hint, exitCodes.notFound);
}

const check: CliCommand = {
  options: [...placeOptions, outputFlag("table", "json", "yaml")],
  help: `
Verifies the journal of a stopped server: the file, every checksum, the sequence of events, the
snapshot, and that every event applies. Changes nothing. Exits 65 if something is damaged. A journal in
PostgreSQL can be verified while servers use it.`,
  async run({ flags, print }) {
    const { output, ...given } = flags<Flags>();
    const place = journalPlace(given);
    if (isAddress(place)) {
      const { checkPostgres } = await import("../../server/check-postgres.ts");
      const found = await checkPostgres(place).catch((error: unknown) => {
        throw folderFailure(error, "the journal");
      });
      print(output === "table" ? textOf(found) : await formatData(found, output));
      return found.problems.length === 0 ? exitCodes.ok : exitCodes.badInput;
    }
    const folder = existingFolder(place);
    const { checkJournal } = await import("../../server/check-journal.ts");
    const report = await checkJournal(folder).catch((error: unknown) => {
      throw folderFailure(error, folder);
    });
    print(output === "table" ? textOf(report, folder) : await formatData(report, output));
    return report.problems.length === 0 ? exitCodes.ok : exitCodes.badInput;
  },
};

interface SkipFlags {
  readonly data?: string;
  readonly yes?: boolean;
}

const skip: CliCommand = {
  options: [...offlineOptions, flag("--yes", "skip them; without it, only list what is lost")],
  help: `
Skips the events of a damaged journal that cannot be read or applied, so that the server starts
again. It lists what is lost, and changes nothing without --yes. The skipped events are kept in the
file skipped-events-TIME.jsonl in the data folder. Prefer a backup, and copy the folder before.`,
  async run({ flags, print }) {
    const { data, yes = false } = flags<SkipFlags>();
    const folder = existingFolder(data);
    const { planSkip, skipEvents } = await import("../../server/skip-events.ts");
    const report = await (yes ? skipEvents(folder, Date.now()) : planSkip(folder)).catch(
      (error: unknown) => {
        throw folderFailure(error, folder);
      },
    );
    print(skipTextOf(report, folder));
    return exitCodes.ok;
  },
};

function skipTextOf(report: SkipReport, folder: string): string {
  const { file, skipped, missingAtEnd, dropsSnapshot, setAside } = report;
  const lines = skipped.map(({ event, why, loss }) => `  event ${event}: ${why}. Lost: ${loss}`);
  if (missingAtEnd !== null) {
    const { from, to } = missingAtEnd;
    lines.push(`  events ${from} to ${to} are missing. Lost: what they changed is not known`);
  }
  if (dropsSnapshot) lines.push("  the snapshot is damaged. Lost: nothing, all events are there");
  if (lines.length === 0) return `${file} needs no event skipped`;
  const count = `${skipped.length} ${skipped.length === 1 ? "event" : "events"}`;
  if (setAside === null) {
    const command = `berth journal skip --yes --data ${folder}`;
    return [`${file} opens without ${count}:`, ...lines, `To skip them: ${command}`].join("\n");
  }
  return [`Skipped ${count} of ${file}:`, ...lines, `They are kept in ${setAside}`].join("\n");
}

export const journal: CliCommand = {
  subcommands: {
    check: { summary: "Verify the journal of a stopped server", command: check },
    copy: { summary: "Move the journal to PostgreSQL, or back", command: copyCommand },
    skip: { summary: "Skip events that cannot be applied", command: skip },
  },
};

/** A place that is no folder. */
function isAddress(place: string): boolean {
  return /^postgres(ql)?:/i.test(place);
}

function textOf(report: JournalReport, folder?: string): string {
  const { file, problems, moreProblems } = report;
  if (problems.length === 0) return `${file} is good: ${contentOf(report)}`;
  return [
    `${file} is damaged: ${contentOf(report)}`,
    ...problems.map(({ where, what }) => `  ${where}: ${what}`),
    ...(moreProblems ? ["  … and more"] : []),
    ...(folder === undefined
      ? ["Stop the servers and restore a backup into another schema: berth restore FILE"]
      : [
          "Stop here and restore the data folder from a backup, or copy it before you change it.",
          `To see what is lost if the server continues without it: berth journal skip --data ${folder}`,
        ]),
  ].join("\n");
}

function contentOf(report: JournalReport): string {
  const { commits, commitsWithoutChecksum, firstEvent, lastEvent, snapshotOfEvent } = report;
  const parts = [
    firstEvent === null ? "no events" : `events ${firstEvent} to ${lastEvent}`,
    `${commits} ${commits === 1 ? "commit" : "commits"}`,
    snapshotOfEvent === null ? "no snapshot" : `a snapshot of event ${snapshotOfEvent}`,
  ];
  if (commitsWithoutChecksum > 0) {
    parts.push(`${commitsWithoutChecksum} commits of an older Berth without a checksum`);
  }
  return parts.join(", ");
}
