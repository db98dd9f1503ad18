import type { CliCommand } from "../cli-command.ts";
import { resourceNames } from "../show/resources.ts";
import { changeOptions, changeResources } from "./change-resources.ts";

export const undrain: CliCommand = {
  args: [["[resource...]", "what is to be lent again"]],
  options: changeOptions(),
  completes: (context) => resourceNames(context, ({ drained }) => drained),
  run: (context) =>
    changeResources(context, {
      verb: "undrain",
      // The note told why it was drained, unless something else is wrong with it, too.
      patch: ({ state }) => ({ drained: false, ...(isFine(state) ? { note: "" } : {}) }),
      concerns: ({ drained }) => drained,
    }),
};

function isFine(state: string): boolean {
  return ["free", "busy", "drained"].includes(state);
}
