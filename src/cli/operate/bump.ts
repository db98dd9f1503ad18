import type { CliCommand } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { userAtHost } from "../run/holder.ts";
import { matching, priority } from "../values.ts";

interface Flags {
  readonly priority?: number | string;
  readonly reason?: string;
}

export const bump: CliCommand = {
  args: [["<request>", "the waiting request; list them: berth queue"]],
  options: [
    flag("--priority <n|name>", "the new priority; higher goes first", priority),
    flag("--reason <why>", "the reason, stored with the change", matching(/\S/, 1_024, "a reason")),
  ],
  help: "\nThe request keeps its place among those of its new priority: by its arrival.",
  async run({ args: [id = ""], client, flags, note }) {
    const { priority: wanted, reason } = flags<Flags>();
    if (wanted === undefined) {
      throw usageError(`Cannot bump ${id}: no priority is given`, "Add it, such as --priority 10");
    }
    if (reason === undefined) {
      throw usageError(`Cannot bump ${id}: no reason is given`, "Add it: --reason WHY");
    }
    const {
      priority: now,
      position,
      holder,
    } = await client.bump(id, {
      priority: wanted,
      reason,
      by: userAtHost(),
    });
    note(`${holder} has priority ${now} and position ${position}`);
    return undefined;
  },
};
