import { limits } from "../../api/limits.ts";
import { lineOfEntry } from "../../insight/audit/chain.ts";
import type { ChainedEntry } from "../../insight/audit/entry.ts";
import type { CliCommand } from "../cli-command.ts";
import { flag } from "../flags.ts";

interface Flags {
  readonly since?: string;
  readonly until?: string;
}

export const auditExport: CliCommand = {
  options: [
    flag("--since <time>", "from this time on: RFC 3339, or an age such as 30d"),
    flag("--until <time>", "before this time"),
  ],
  help: `
Prints one entry per line, the oldest first, with its hash. berth audit verify FILE checks it later,
also after the server has deleted these entries. The last line is the anchor for what follows.`,
  async run({ client, flags, print, note }) {
    const { since, until } = flags<Flags>();
    let after: string | undefined;
    let last: { number: number; hash: string } | undefined;
    do {
      const page = await client.audit({
        ...{ since, until, after, order: "oldest", limit: limits.pageSizeMax },
      });
      for (const entry of page.items) print(lineOfEntry(entry as ChainedEntry));
      last = page.items.at(-1) ?? last;
      after = page.next ?? undefined;
    } while (after !== undefined);
    if (last === undefined) note("No entry matches.");
    else note(`Exported up to ${last.number}:${last.hash}`);
    return undefined;
  },
};
