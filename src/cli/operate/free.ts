import type { Resource } from "../../api/schemas.ts";
import type { CliCommand } from "../cli-command.ts";
import { resourceNames } from "../show/resources.ts";
import { changeOptions, changeResources } from "./change-resources.ts";

export const free: CliCommand = {
  args: [["[resource...]", "resources to set to free"]],
  options: changeOptions(),
  help: "\nSets the state to free and clears the note. With --pool: all quarantined resources.",
  completes: (context) => resourceNames(context, isOut),
  run: (context) =>
    changeResources(context, {
      verb: "free",
      patch: () => ({ state: "free", note: "" }),
      isTarget: isQuarantined,
      targets: "quarantined",
    }),
};

function isQuarantined({ state }: Resource): boolean {
  return state === "quarantined";
}

function isOut({ state, lease }: Resource): boolean {
  return lease === null && state !== "free" && state !== "drained";
}
