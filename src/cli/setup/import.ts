import type { GoodConfig } from "../../config/parse.ts";
import type { BoskosObjects } from "../../server/migrate/boskos-objects.ts";
import type { ImportReport } from "../../server/migrate/import-boskos.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";
import { fromEnvironment } from "../values.ts";
import { dataFolder, folderFailure, offlineOptions } from "./data-folder.ts";
import { importText } from "./import-text.ts";
import { importVcmCommand } from "./import-vcm.ts";
import { readInput } from "./read-input.ts";

interface Flags {
  readonly config?: string;
  readonly data?: string;
  readonly dryRun?: boolean;
  readonly output: "table" | "json" | "yaml";
}

const help = `
Imports states, owners, user data and update times of Boskos into the data folder. The server must
not run. Skips resources that are held here already, or were leased here since, so that the command
is safe to repeat.

Exit codes: 65 the file cannot be parsed or has no object of Boskos, and nothing was changed; 69 a
server uses the data folder; 77 a lease could not be imported; 78 the configuration is bad.`;

const boskos: CliCommand = {
  args: [
    ["<file>", "kubectl get resources,dynamicresourcelifecycles -o json; - for standard input"],
  ],
  options: [
    flag("--config <file>", "the server's configuration file ($BERTH_CONFIG)"),
    ...offlineOptions,
    flag("--dry-run", "print what would be imported, and change nothing"),
    outputFlag("table", "json", "yaml"),
  ],
  help,
  async run(context) {
    const { args, flags, note } = context;
    const { config, data, dryRun = false } = flags<Flags>();
    const objects = await readObjects(args[0] ?? "");
    const { pools } = await readConfiguration(config, note);
    const { importBoskos } = await import("../../server/migrate/import-boskos.ts");
    const { compareLifecycles } = await import("../../server/migrate/compare-lifecycles.ts");
    const folder = dataFolder(data);
    const report = await importBoskos({ pools, objects, data: folder, dryRun }).catch(
      (error: unknown) => {
        throw folderFailure(error, folder);
      },
    );
    const warnings = [...foreignKinds(objects), ...compareLifecycles(objects.lifecycles, pools)];
    await printReport(context, report, warnings);
    const lost = report.left.some(({ why, owner }) => owner !== "" && why !== "used_since");
    return lost ? exitCodes.refused : exitCodes.ok;
  },
};

export const importCommand: CliCommand = {
  subcommands: {
    boskos: { summary: "Import resources and leases from Boskos", command: boskos },
    vcm: {
      summary: "Convert manifests of the vSphere capacity manager to a configuration",
      command: importVcmCommand,
    },
  },
};

async function readObjects(file: string): Promise<BoskosObjects> {
  const text = await readInput(file);
  const { BadBoskosObjects, parseBoskosObjects } = await import(
    "../../server/migrate/boskos-objects.ts"
  );
  try {
    const objects = parseBoskosObjects(text);
    refuseNothing(file, objects);
    return objects;
  } catch (error) {
    if (!(error instanceof BadBoskosObjects)) throw error;
    const problems = error.problems.map((problem) => `${file}: ${problem}`).join("\n");
    throw new CliError(`${problems}\nNothing was changed`, error.hint, exitCodes.badInput);
  }
}

/** An import that recognises no object would look like a success, and lose every lease. */
function refuseNothing(file: string, { resources, lifecycles, others }: BoskosObjects): void {
  if (resources.length > 0 || lifecycles.length > 0) return;
  const kinds = Array.from(others, ([kind, count]) => `${count} of kind ${kind}`);
  const found = kinds.length === 0 ? "" : `, only ${kinds.join(", ")}`;
  throw new CliError(
    `Cannot import ${file}: it has no object of Boskos${found}\nNothing was changed`,
    "Boskos has the kinds ResourceObject and DRLCObject. Make the file with: kubectl -n NAMESPACE" +
      " get resources.boskos.k8s.io,dynamicresourcelifecycles.boskos.k8s.io -o json",
    exitCodes.badInput,
  );
}

async function readConfiguration(
  given: string | undefined,
  note: (text: string) => void,
): Promise<GoodConfig> {
  const file = given ?? fromEnvironment("BERTH_CONFIG", (text) => text);
  if (file === undefined) {
    const hint = "Pass the file that the server will use: --config FILE";
    throw usageError("Cannot import: no configuration is given", hint);
  }
  const { loadConfig } = await import("../../config/load.ts");
  const { formatProblem, formatWarning } = await import("../../config/document.ts");
  const parsed = await loadConfig(file);
  if (!parsed.ok) {
    const hint = `Fix the file, then check it with: berth config check ${file}`;
    const problems = parsed.problems.map(formatProblem).join("\n");
    throw new CliError(problems, hint, exitCodes.badConfiguration);
  }
  for (const warning of parsed.warnings) note(formatWarning(warning));
  return parsed;
}

function foreignKinds({ others }: BoskosObjects): string[] {
  return Array.from(others, ([kind, count]) => {
    return `Ignored ${count} ${count === 1 ? "object" : "objects"} of kind ${kind}, not of Boskos`;
  });
}

async function printReport(
  { flags, print, note }: Context,
  report: ImportReport,
  warnings: readonly string[],
): Promise<void> {
  const { output, dryRun = false } = flags<Flags>();
  if (output !== "table") print(await formatData({ dryRun, ...report, warnings }, output));
  else {
    for (const warning of warnings) note(`warning: ${warning}`);
    print(importText(report, dryRun));
  }
}
