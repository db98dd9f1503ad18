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
Prints what kubectl create -f takes, with owners and user data: keep it to yourself. The server
must not run meanwhile, so that nobody is lent anything after it was written down.`,
  async run({ flags, note, print }) {
    const { data, output } = flags<Flags>();
    const folder = dataFolder(data);
    if (!existsSync(folder)) {
      const hint = "Name the server's data folder with --data";
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
    boskos: { summary: "Print what is lent as records that Boskos keeps", command: boskos },
  },
};
