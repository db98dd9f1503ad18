import type { WaitingRequest } from "../../api/schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { poolMustExist } from "../operate/pool-must-exist.ts";
import type { Column } from "../terminal/table.ts";
import { formatLabels, formatSeconds } from "./age.ts";
import { list, listOptions } from "./listing.ts";

interface Flags {
  readonly pool?: string;
  readonly holder?: string;
}

const columns: readonly Column<WaitingRequest>[] = [
  { header: "PLACE", cell: ({ position }) => String(position), align: "right" },
  { header: "ID", cell: ({ id }) => id, whole: true },
  { header: "HOLDER", cell: ({ holder }) => holder },
  { header: "WANTS", cell: ({ items }) => formatItems(items) },
  { header: "WAITED", cell: ({ waitedSeconds }) => formatSeconds(waitedSeconds) },
  { header: "ABOUT", cell: ({ etaSeconds }) => formatSeconds(etaSeconds) },
  {
    header: "AT MOST",
    cell: ({ estimate }) => formatSeconds(estimate?.p90Seconds ?? null),
    wide: true,
  },
  { header: "REASON", cell: ({ reason }) => reason.message },
  { header: "PRIORITY", cell: ({ priority }) => String(priority), align: "right", wide: true },
  { header: "TTL", cell: ({ ttl }) => ttl ?? "-", wide: true },
  { header: "LABELS", cell: ({ labels }) => formatLabels(labels), wide: true },
];

export const queue: CliCommand = {
  options: [
    flag("--pool <pool>", "only those that wait for something of this pool"),
    flag("--holder <holder>", "only those of this holder"),
    ...listOptions(),
  ],
  help: `
ABOUT is how long it may still take: as likely less as more. Nine times in ten it is no more than
AT MOST (-o wide). Both come from recorded holds. See why it waits: berth explain ID`,
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ id }) => id,
      read: () => readQueue(context),
      emptyText: "Nobody waits. See who holds what: berth leases",
    }),
};

async function readQueue({ client, flags }: Context): Promise<WaitingRequest[]> {
  const { pool, holder } = flags<Flags>();
  const found = await client.everyRequest({ pool, holder });
  if (found.length === 0) await poolMustExist(client, pool);
  return found.sort((a, b) => a.position - b.position);
}

export async function requestIds({ client }: Context): Promise<string[]> {
  return (await client.everyRequest()).map(({ id }) => id);
}

/** `aws-account vm:2`, as it is typed behind `--pool`. */
export function formatItems(items: WaitingRequest["items"]): string {
  return items.map(({ pool, count }) => (count === 1 ? pool : `${pool}:${count}`)).join(" ");
}
