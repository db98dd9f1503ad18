import type { HistoryEntry } from "../../api/history-schemas.ts";
import { limits } from "../../api/limits.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { flag, onceFlag } from "../flags.ts";
import { poolMustExist } from "../operate/pool-must-exist.ts";
import type { Column } from "../terminal/table.ts";
import { wholeNumber } from "../values.ts";
import { formatAge, formatMeasured } from "./age.ts";
import { list, listOptions } from "./listing.ts";

interface Flags {
  readonly pool?: string;
  readonly resource?: string;
  readonly holder?: string;
  readonly how?: string;
  readonly cleaning?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

const limitDefault = 50;

const columns: readonly Column<HistoryEntry>[] = [
  { header: "ENDED", cell: ({ endedAt }) => `${formatAge(endedAt)} ago` },
  { header: "HOW", cell: ({ how }) => how },
  { header: "HOLDER", cell: ({ holder }) => holder },
  { header: "POOL", cell: ({ pool }) => pool },
  { header: "RESOURCE", cell: ({ resource }) => resource ?? "-" },
  { header: "AMOUNT", cell: ({ amount }) => formatAmount(amount), optional: true },
  { header: "WAITED", cell: ({ waitSeconds }) => formatMeasured(waitSeconds) },
  { header: "HELD", cell: ({ holdSeconds }) => formatMeasured(holdSeconds) },
  { header: "ID", cell: ({ id }) => id, whole: true, wide: true },
  { header: "WAITED FOR", cell: ({ waitedFor }) => waitedFor ?? "-", wide: true },
  { header: "ASKED AT", cell: ({ askedAt }) => askedAt, wide: true },
  { header: "GRANTED AT", cell: ({ grantedAt }) => grantedAt ?? "-", wide: true },
  { header: "ENDED AT", cell: ({ endedAt }) => endedAt, wide: true },
  { header: "PURPOSE", cell: ({ purpose }) => purpose ?? "-", wide: true },
  { header: "PRIORITY", cell: ({ priority }) => String(priority), align: "right", wide: true },
  { header: "SPACE", cell: ({ space }) => space, wide: true },
];

export const history: CliCommand = {
  args: [["[lease]", "only this lease"]],
  options: [
    onceFlag("--pool <pool>", "only of this pool"),
    onceFlag("--resource <resource>", "only of this resource"),
    onceFlag("--holder <holder>", "only of this holder"),
    onceFlag("--how <end>", "only those that ended this way, such as expired,released"),
    flag("--cleaning", "cleanings instead of leases; -o wide shows them as PURPOSE clean"),
    flag("--since <time>", "ended at this time or later: RFC 3339, or an age such as 2h"),
    flag("--until <time>", "ended before this time"),
    flag(
      "--limit <number>",
      "at most this many, the latest first",
      wholeNumber(1, limits.pageSizeMax),
    ).default(limitDefault),
    ...listOptions(),
  ],
  help: `
One line per claim. WAITED is the time until the grant, or until it left the queue. Cleanings are
upkeep and are listed only with --cleaning, or with the id of their lease.`,
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ id }) => id,
      read: () => readHistory(context),
      emptyText: "No past lease matches.",
    }),
};

/** An older server sends no amounts. */
function formatAmount(amount: HistoryEntry["amount"] | undefined): string {
  const parts = Object.entries(amount ?? {}).map(([name, count]) => `${name}=${count}`);
  return parts.length === 0 ? "-" : parts.join(",");
}

async function readHistory({ args: [id], client, flags }: Context) {
  const { pool, resource, holder, how, cleaning, since, until, limit } = flags<Flags>();
  const purpose = cleaning ? ("clean" as const) : undefined;
  const filter = { id, pool, resource, holder, how, since, until, limit, purpose };
  const { items } = await client.history(filter);
  if (items.length === 0) await poolMustExist(client, pool);
  return items;
}
