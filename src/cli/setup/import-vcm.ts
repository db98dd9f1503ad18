import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";

/** `berth import vcm DIR` prints the configuration to stdout, and problems to stderr. */
export const importVcmCommand: CliCommand = {
  args: [["<dir>", "a folder with Pool and Network manifests; includes its subfolders"]],
  options: [outputFlag("yaml", "json")],
  help: "\nPrints the configuration to stdout, and problems of the manifests to stderr.",
  async run({ args: [dir = ""], flags, note, print }) {
    const { importVcm } = await import("../../config/import-vcm.ts");
    const { config, findings, resources, networks } = importVcm(await manifests(dir));
    for (const { file, message } of findings) note(`${file}: ${message}`);
    if (resources === 0) {
      const hint = "Pass a folder with manifests of kind Pool";
      throw new CliError(`Cannot import ${dir}: it has no usable Pool`, hint, exitCodes.notFound);
    }
    note(`${resources} resources and ${networks} networks; ${findings.length} problems to check`);
    print(await formatData(config, flags<{ output: "yaml" | "json" }>().output));
    return undefined;
  },
};

async function manifests(dir: string) {
  try {
    const names = await readdir(dir, { recursive: true });
    const files = names.filter((name) => /\.ya?ml$/.test(name)).sort();
    return await Promise.all(
      files.map(async (file) => ({ file, text: await readFile(join(dir, file), "utf8") })),
    );
  } catch (cause) {
    const state = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot import ${dir}: ${state}`;
    throw new CliError(message, "Pass a folder with manifests", exitCodes.notFound);
  }
}
