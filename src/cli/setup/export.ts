import { existsSync } from "node:fs";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";
import { dataFolder, folderFailure, offlineOptions } from "./data-folder.ts";

interface Flags {
  readonly data?: string;
  readonly output: "json" | "yaml";
}

const boskos: CliCommand = {
  options: [...offlineOptions, outputFlag("json", "yaml")],
  help: `
Prints objects for kubectl create -f, with owners and user data: keep the output secret. The server
must not run, so that it grants no lease after the export.`,
  async run({ flags, note, print }) {
    const { data, output } = flags<Flags>();
    const folder = dataFolder(data);
    if (!existsSync(folder)) {
      const hint = "Pass the server's data folder with --data";
      throw new CliError(
        `Cannot read "${folder}": there is no such folder`,
        hint,
        exitCodes.notFound,
      );
    }
    const { exportBoskos } = await import("../../server/migrate/export-boskos.ts");
    const list = await exportBoskos(folder).catch((error: unknown) => {
      throw folderFailure(error, folder);
    });
    print(await formatData(list, output));
    note(`${list.items.length} resources, with their owners and their user data`);
    return exitCodes.ok;
  },
};

export const exportCommand: CliCommand = {
  subcommands: {
    boskos: { summary: "Print resources and leases as Boskos objects", command: boskos },
  },
};
