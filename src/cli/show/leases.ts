import type { Lease } from "../../api/schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { onceFlag } from "../flags.ts";
import { poolMustExist } from "../operate/pool-must-exist.ts";
import type { Column } from "../terminal/table.ts";
import { formatAge, formatLabels, formatMeasured, timeUntil } from "./age.ts";
import { list, listOptions } from "./listing.ts";
import { inBrackets } from "./queue.ts";

interface Flags {
  readonly pool?: string;
  readonly holder?: string;
}

const columns: readonly Column<Lease>[] = [
  { header: "ID", cell: ({ id }) => id, whole: true },
  { header: "HOLDER", cell: holderOf },
  { header: "SPACE", cell: ({ space = "-" }) => space, optional: true },
  { header: "RESOURCES", cell: ({ claims }) => claims.map(formatClaim).join(" ") },
  { header: "AGE", cell: ({ grantedAt }) => formatAge(grantedAt) },
  { header: "EXPIRES IN", cell: ({ expiresAt }) => timeUntil(expiresAt) },
  { header: "POOLS", cell: ({ claims }) => poolsOf(claims).join(" "), wide: true },
  { header: "TTL", cell: ({ ttl }) => ttl ?? "-", wide: true },
  { header: "ENDS IN", cell: ({ endsAt }) => timeUntil(endsAt), wide: true },
  { header: "WAITED", cell: ({ waitedSeconds }) => formatMeasured(waitedSeconds), wide: true },
  { header: "PRIORITY", cell: ({ priority }) => String(priority), align: "right", wide: true },
  { header: "LABELS", cell: ({ labels }) => formatLabels(labels), wide: true },
];

/** A holder that was granted the lease between two polls does not know it yet. */
function holderOf({ holder, delivered }: Lease): string {
  return delivered === false ? `${holder} (granted, not delivered)` : holder;
}

export const leases: CliCommand = {
  args: [["[lease...]", "only these leases"]],
  options: [
    onceFlag("--pool <pool>", "only leases with resources of this pool"),
    onceFlag("--holder <holder>", "only leases of this holder"),
    ...listOptions(),
  ],
  completes: leaseIds,
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ id }) => id,
      read: () => readLeases(context),
      emptyText: "No lease to show. Request one: berth run --pool POOL -- CMD",
    }),
};

async function readLeases({ args, client, flags }: Context): Promise<Lease[]> {
  if (args.length > 0) return Promise.all(args.map((id) => client.lease(id)));
  const { pool, holder } = flags<Flags>();
  const found = await client.everyLease({ pool, holder });
  if (found.length === 0) await poolMustExist(client, pool);
  return found;
}

export async function leaseIds({ client }: Context): Promise<string[]> {
  return (await client.everyLease()).map(({ id }) => id);
}

/** The resource, and the amounts if it is shared: `hv-2 (vcpus=24 memory=96)`. */
function formatClaim({ resource, amount = {} }: Lease["claims"][number]): string {
  return `${resource}${inBrackets(Object.entries(amount).map(([key, n]) => `${key}=${n}`))}`;
}

/** Each pool once, in the order of the claims. */
export function poolsOf(claims: Lease["claims"]): string[] {
  return [...new Set(claims.map(({ pool }) => pool))];
}
