import type { Resource } from "../../api/schemas.ts";
import type { CliCommand } from "../cli-command.ts";
import { resourceNames } from "../show/resources.ts";
import { changeOptions, changeResources } from "./change-resources.ts";

export const free: CliCommand = {
  args: [["[resource...]", "what is fit to be lent again"]],
  options: changeOptions(),
  help: "\nSets the state free, and clears the note. With --pool: those that are quarantined.",
  completes: (context) => resourceNames(context, isOut),
  run: (context) =>
    changeResources(context, {
      verb: "free",
      patch: () => ({ state: "free", note: "" }),
      concerns: isQuarantined,
    }),
};

function isQuarantined({ state }: Resource): boolean {
  return state === "quarantined";
}

function isOut({ state, lease }: Resource): boolean {
  return lease === null && state !== "free" && state !== "drained";
}
