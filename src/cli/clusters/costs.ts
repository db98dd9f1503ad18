import type { Cost } from "../../api/cluster-schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { list, listOptions } from "../show/listing.ts";
import type { Column } from "../terminal/table.ts";
import { oneOf } from "../values.ts";

const dimensions = ["space", "template", "pool"] as const;
type Dimension = (typeof dimensions)[number];

interface Flags {
  readonly by?: Dimension;
  readonly since?: string;
  readonly until?: string;
}

interface Row extends Omit<Cost, "template" | "pool"> {
  readonly template: string | null;
  readonly pool: string | null;
}

const columns: readonly Column<Row>[] = [
  { header: "SPACE", cell: ({ space }) => space ?? "-" },
  { header: "TEMPLATE", cell: ({ template }) => template ?? "", optional: true },
  { header: "POOL", cell: ({ pool }) => pool ?? "", optional: true },
  { header: "CLUSTERS", cell: ({ clusters }) => String(clusters), align: "right" },
  { header: "HOURS", cell: ({ clusterHours }) => clusterHours.toFixed(2), align: "right" },
  { header: "COST", cell: ({ costHours }) => costHours.toFixed(2), align: "right" },
];

export const costs: CliCommand = {
  options: [
    flag(
      "--by <what>",
      `one of ${dimensions.join(", ")}; default: all three`,
      oneOf(...dimensions),
    ),
    flag("--since <time>", "an age such as 7d or a time; default 7d"),
    flag("--until <time>", "an age or a time; default now"),
    ...listOptions(),
  ],
  help: `
COST is hours times the template's cost at that moment. A cluster is charged from when it is planned
until its destruction is confirmed: to the space that held it, from its grant on. A line without a
space is stock that nobody held.

Examples:
  berth costs --by space --since 30d
  berth costs -o json`,
  run: (context) =>
    list(context, {
      columns: columns.filter(({ header }) => isShown(header, context.flags<Flags>().by)),
      nameOf: ({ space, template, pool }) =>
        [space ?? "-", template, pool].filter(Boolean).join("/"),
      read: () => readCosts(context),
      emptyText: "No cluster was charged in this time. See clusters: berth clusters",
    }),
};

function isShown(header: string, by: Dimension | undefined): boolean {
  const isDimension = dimensions.some((name) => name.toUpperCase() === header);
  return by === undefined || !isDimension || header === by.toUpperCase();
}

async function readCosts({ client, flags }: Context): Promise<readonly Row[]> {
  const { by, since = "7d", until } = flags<Flags>();
  const { items } = await client.clusters.costs({ since, until });
  const rows = by === undefined ? items : summed(items, by);
  return [...rows].sort((a, b) => b.costHours - a.costHours);
}

function summed(items: readonly Cost[], by: Dimension): Row[] {
  const rows = new Map<string | null, Row>();
  for (const item of items) {
    const key = item[by];
    const before = rows.get(key);
    const names = { space: null, template: null, pool: null, [by]: key };
    rows.set(key, {
      ...names,
      clusters: (before?.clusters ?? 0) + item.clusters,
      clusterHours: (before?.clusterHours ?? 0) + item.clusterHours,
      costHours: (before?.costHours ?? 0) + item.costHours,
    });
  }
  return [...rows.values()];
}
