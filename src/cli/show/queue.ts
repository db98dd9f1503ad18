import type { WaitingRequest } from "../../api/schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { onceFlag } from "../flags.ts";
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
  { header: "SPACE", cell: ({ space = "-" }) => space, optional: true },
  {
    header: "PRIORITY",
    cell: ({ priority }) => String(priority),
    align: "right",
    optional: ({ priority }) => priority !== 0,
  },
  { header: "WANTS", cell: ({ items }) => formatItems(items) },
  { header: "WAITED", cell: ({ waitedSeconds }) => formatSeconds(waitedSeconds) },
  { header: "ABOUT", cell: ({ etaSeconds }) => formatSeconds(etaSeconds) },
  {
    header: "AT MOST",
    cell: ({ estimate }) => formatSeconds(estimate?.p90Seconds ?? null),
    wide: true,
  },
  { header: "REASON", cell: ({ reason }) => reason.message, worth: 2 },
  { header: "TTL", cell: ({ ttl }) => ttl ?? "-", wide: true },
  { header: "LABELS", cell: ({ labels }) => formatLabels(labels), wide: true },
];

export const queue: CliCommand = {
  options: [
    onceFlag("--pool <pool>", "only requests for this pool"),
    onceFlag("--holder <holder>", "only requests of this holder"),
    ...listOptions(),
  ],
  help: `
Requests are sorted by the pool that they wait for, then by PLACE. PRIORITY is shown if a
request has another than 0. ABOUT is the median estimate of the remaining wait, AT MOST
(-o wide) its 90th percentile. Both come from recorded hold times.
To see why a request waits: berth explain ID`,
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ id }) => id,
      read: () => readQueue(context),
      emptyText: "No waiting request to show. List leases: berth leases",
    }),
};

async function readQueue({ client, flags }: Context): Promise<WaitingRequest[]> {
  const { pool, holder } = flags<Flags>();
  const found = await client.everyRequest({ pool, holder });
  if (found.length === 0) await poolMustExist(client, pool);
  // A place is one in the queue of the pool that the reason names.
  return found.sort(
    (a, b) => a.reason.pool.localeCompare(b.reason.pool) || a.position - b.position,
  );
}

export async function requestIds({ client }: Context): Promise<string[]> {
  return (await client.everyRequest()).map(({ id }) => id);
}

/**
 * Formats items as the user types them after `--pool`, with the other flags in brackets:
 * `aws-account vm:2 (vcpus=24 memory=96)`, `aws-account (region=eu-west)`.
 */
export function formatItems(items: WaitingRequest["items"]): string {
  return items.map((item) => `${formatPool(item)}${inBrackets(detailsOf(item))}`).join(" ");
}

type Item = WaitingRequest["items"][number];

function formatPool({ pool, count }: Item): string {
  return count === 1 ? pool : `${pool}:${count}`;
}

/** Older servers send neither amounts nor selectors. */
function detailsOf({ amount = {}, selector = {}, resource }: Item): string[] {
  const pairs = [...Object.entries(amount), ...Object.entries(selector)];
  return [...(resource === undefined ? [] : [resource]), ...pairs.map(([k, v]) => `${k}=${v}`)];
}

export function inBrackets(details: readonly string[]): string {
  return details.length === 0 ? "" : ` (${details.join(" ")})`;
}
