import type { CliCommand } from "../cli-command.ts";
import { outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";
import { clusterNames } from "./cluster-names.ts";

export const logs: CliCommand = {
  args: [["<cluster>", "the cluster's name"]],
  options: [outputFlag("text", "json", "yaml")],
  completes: clusterNames,
  help: `
Berth collects the logs of a cluster before it destroys a broken one, and keeps those of the last
failures of each pool. Known secrets are masked.

Example:
  berth clusters logs ocp-4.20-7`,
  async run({ args: [name = ""], client, flags, print, note }) {
    const { output } = flags<{ output: "text" | "json" | "yaml" }>();
    const found = await client.clusters.logs(name);
    if (output !== "text") {
      print(await formatData(found, output));
    } else if (found.entries.length === 0) {
      note(`No logs of ${name} were collected. Berth does so when a cluster fails`);
    }
    for (const { at, instance, why, text } of output === "text" ? found.entries : []) {
      print(`==> ${instance} at ${at}: ${why}\n${text.trimEnd()}`);
    }
    return undefined;
  },
};
