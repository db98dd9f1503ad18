import type { CliCommand } from "../cli-command.ts";
import { resourceNames } from "../show/resources.ts";
import { changeOptions, changeResources } from "./change-resources.ts";

export const undrain: CliCommand = {
  args: [["[resource...]", "resources to lend again"]],
  options: changeOptions(),
  completes: (context) => resourceNames(context, ({ drained }) => drained),
  run: (context) =>
    changeResources(context, {
      verb: "undrain",
      // The note holds the reason for the drain, or for another state such as quarantined.
      patch: ({ state }) => ({ drained: false, ...(isUsable(state) ? { note: "" } : {}) }),
      isTarget: ({ drained }) => drained,
    }),
};

function isUsable(state: string): boolean {
  return ["free", "busy", "drained"].includes(state);
}
