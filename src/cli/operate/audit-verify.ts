import { existsSync } from "node:fs";
import { type Anchor, anchorText, parseAnchor } from "../../insight/audit/chain.ts";
import type { AuditReport } from "../../insight/audit/verify.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { dataFolder, folderFailure, offlineOptions } from "../setup/data-folder.ts";
import { formatData } from "../show/listing.ts";
import { plain } from "../terminal/text.ts";
import { InvalidValue, type Parse } from "../values.ts";

interface Flags {
  readonly data?: string;
  readonly anchor?: Anchor;
  readonly output: "table" | "json" | "yaml";
}

const anchor: Parse<Anchor> = (text) => {
  const found = parseAnchor(text);
  if (found === undefined) {
    throw new InvalidValue("it is not an anchor", "Write NUMBER:HASH, as this command prints it");
  }
  return found;
};

export const auditVerify: CliCommand = {
  args: [["[file]", "an export; default: the audit in the data folder"]],
  options: [
    ...offlineOptions,
    flag("--anchor <number:hash>", "compare with the last entry that was noted before", anchor),
    outputFlag("table", "json", "yaml"),
  ],
  help: `
Checks that no entry was changed, removed or inserted. It reads the data folder on the machine of
the server, which may run meanwhile; on another machine, export first:

  berth audit export > audit.jsonl && berth audit verify audit.jsonl

It does not call a server. A chain alone cannot show that its end was cut off: note the printed anchor
in another place, and give it with --anchor the next time. What could not be proved is listed. Exits 65
if something is wrong, also if the file has recorded something and has no entries.`,
  async run({ args: [file], flags, print }) {
    const { data, anchor: noted, output } = flags<Flags>();
    const { verifyExport, verifyFolder } = await import("../../insight/audit/verify-source.ts");
    const folder = dataFolder(data);
    if (file !== undefined && !existsSync(file)) {
      const hint = "Name a file that berth audit export has written";
      throw new CliError(
        `Cannot verify "${file}": there is no such file`,
        hint,
        exitCodes.notFound,
      );
    }
    try {
      const report = file
        ? await verifyExport(file, { anchor: noted })
        : verifyFolder(folder, { anchor: noted });
      print(output === "table" ? textOf(report, file ?? folder) : await formatData(report, output));
      return report.problems.length === 0 ? exitCodes.ok : exitCodes.badInput;
    } catch (error) {
      throw folderFailure(error, folder);
    }
  },
};

function textOf(report: AuditReport, source: string): string {
  const { entries, first, last, problems, moreProblems, anchored, unproved } = report;
  if (problems.length > 0) {
    const lines = problems.map(({ where, what }) => `  ${where}: ${plain(what)}`);
    const more = moreProblems ? ["  and more"] : [];
    return [`The audit in ${source} is not as it was written:`, ...lines, ...more].join("\n");
  }
  const open = unproved.map((what) => `Not proved: ${what}.`);
  if (last === null) return [`The audit in ${source} has no entries.`, ...open].join("\n");
  const range = `${entries} entries (${first} to ${last.number})`;
  const known = anchored ? " The anchor is part of it." : "";
  return [
    `The audit in ${source} is intact: ${range}.${known}`,
    ...open,
    `Anchor, to be noted in another place: ${anchorText(last)}`,
  ].join("\n");
}
