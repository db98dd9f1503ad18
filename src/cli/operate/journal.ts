import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JournalReport } from "../../server/check-journal.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { outputFlag } from "../flags.ts";
import { dataFolder, folderFailure, offlineOptions } from "../setup/data-folder.ts";
import { formatData } from "../show/listing.ts";

interface Flags {
  readonly data?: string;
  readonly output: "table" | "json" | "yaml";
}

const check: CliCommand = {
  options: [...offlineOptions, outputFlag("table", "json", "yaml")],
  help: `
Verifies the journal of a stopped server: the file, every checksum, the sequence of events, the
snapshot, and that every event applies. Changes nothing. Exits 65 if something is damaged.`,
  async run({ flags, print }) {
    const { data, output } = flags<Flags>();
    const folder = dataFolder(data);
    if (!existsSync(join(folder, "journal.db"))) {
      const hint = "Pass the server's data folder with --data";
      throw new CliError(`Cannot check "${folder}": it has no journal`, hint, exitCodes.notFound);
    }
    const { checkJournal } = await import("../../server/check-journal.ts");
    const report = await checkJournal(folder).catch((error: unknown) => {
      throw folderFailure(error, folder);
    });
    print(output === "table" ? textOf(report) : await formatData(report, output));
    return report.problems.length === 0 ? exitCodes.ok : exitCodes.badInput;
  },
};

export const journal: CliCommand = {
  subcommands: {
    check: { summary: "Verify the journal of a stopped server", command: check },
  },
};

function textOf(report: JournalReport): string {
  const { file, problems, moreProblems } = report;
  if (problems.length === 0) return `${file} is good: ${contentOf(report)}`;
  return [
    `${file} is damaged: ${contentOf(report)}`,
    ...problems.map(({ where, what }) => `  ${where}: ${what}`),
    ...(moreProblems ? ["  … and more"] : []),
    "Stop here and restore the data folder from a backup, or copy it before you change it.",
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
