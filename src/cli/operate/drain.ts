import type { CliCommand } from "../cli-command.ts";
import { resourceNames } from "../show/resources.ts";
import { changeOptions, changeResources } from "./change-resources.ts";

export const drain: CliCommand = {
  args: [["[resource...]", "resources to stop lending"]],
  options: changeOptions(),
  help: "\nThe reason becomes the note of each resource. berth resources shows it.",
  completes: (context) => resourceNames(context, ({ drained }) => !drained),
  run: (context) =>
    changeResources(context, {
      verb: "drain",
      patch: (_, reason) => ({ drained: true, ...(reason === undefined ? {} : { note: reason }) }),
      isTarget: ({ drained }) => !drained,
    }),
};
