import { existsSync } from "node:fs";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { onceFlag, outputFlag } from "../flags.ts";
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

interface DeviceFlags {
  readonly driver?: string;
  readonly output: "json" | "yaml";
}

const dra: CliCommand = {
  options: [
    onceFlag("--driver <name>", "the name of the driver in the objects; default: berth"),
    outputFlag("yaml", "json"),
  ],
  help: `
Prints a DeviceClass for each pool of the server and its resources as ResourceSlices
(resource.k8s.io/v1), for those who write a driver. It has no leases and no user data.`,
  async run({ client, flags, note, print }) {
    const { driver = "berth", output } = flags<DeviceFlags>();
    if (!/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(driver)) {
      const message = `Cannot use --driver ${JSON.stringify(driver)}: it is not a name of a driver`;
      throw new CliError(message, "Use lower-case letters, digits, - and .", exitCodes.usage);
    }
    const { deviceObjects } = await import("../../kubernetes/device-objects.ts");
    const { items, leftOut } = deviceObjects(await client.everyResource(), driver);
    print(await formatData({ apiVersion: "v1", kind: "List", items }, output));
    for (const one of leftOut) note(`Left out: ${one}`);
    return exitCodes.ok;
  },
};

export const exportCommand: CliCommand = {
  subcommands: {
    dra: { summary: "Print pools for Dynamic Resource Allocation", command: dra },
    boskos: { summary: "Print resources and leases as Boskos objects", command: boskos },
  },
};
