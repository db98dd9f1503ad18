import type { Space } from "../../api/space-schemas.ts";
import type { CliCommand } from "../cli-command.ts";
import type { Column } from "../terminal/table.ts";
import { list, listOptions } from "./listing.ts";

const columns: readonly Column<Space>[] = [
  { header: "NAME", cell: ({ name }) => name },
  { header: "WEIGHT", cell: ({ weight }) => String(weight), align: "right" },
  { header: "SHARE", cell: ({ share }) => share.toFixed(3), align: "right" },
  { header: "LEASES", cell: ({ leases }) => String(leases), align: "right" },
  { header: "WAITING", cell: formatWaiting, align: "right" },
  { header: "MOST OF", cell: ({ holds: [most] }) => formatHolding(most) },
  { header: "QUOTAS", cell: ({ quotas }) => quotas.map(formatQuota).join(", ") || "-" },
  { header: "HOLDS", cell: ({ holds }) => holds.map(formatHolding).join(", ") || "-", wide: true },
];

function formatWaiting({ waiting, waitingMax }: Space): string {
  return waitingMax === null ? String(waiting) : `${waiting}/${waitingMax}`;
}

export function formatHolding(holding: Space["holds"][number] | undefined): string {
  if (holding === undefined) return "-";
  const { pool, dimension, held, capacity } = holding;
  return `${held}/${capacity} ${dimension === null ? pool : `${dimension} of ${pool}`}`;
}

/** The quota with its holders, and what its cohort uses: for the explanation of a wait. */
export function describeQuota(quota: Space["quotas"][number]): string {
  // An older server does not send these.
  const { cohort = null, heldBy = [] } = quota;
  const holders =
    heldBy.length === 0 ? "" : `, held by ${heldBy.map(({ holder }) => holder).join(", ")}`;
  const shared =
    cohort === null ? "" : `; cohort ${cohort.name} uses ${cohort.used} of ${cohort.capacity}`;
  return `${formatQuota(quota)}${holders}${shared}`;
}

export function formatQuota({ pool, dimension, held, max }: Space["quotas"][number]): string {
  const what = pool === null ? dimension : dimension === null ? pool : `${dimension} of ${pool}`;
  return `${held}/${max} ${what}`;
}

export const spaces: CliCommand = {
  options: listOptions(),
  help: `
SHARE is the largest part that the space holds of any pool, divided by its weight. Within a priority
the space with the lowest share is next. Without authentication there are no spaces.`,
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ name }) => name,
      read: () => context.client.everySpace(),
      emptyText:
        "There are no spaces: the configuration has none, and no lease was requested with credentials (auth).",
    }),
};
