import type { Resource } from "../../api/schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Column } from "../terminal/table.ts";
import { formatLabels } from "./age.ts";
import { list, listOptions } from "./listing.ts";
import { poolNames } from "./pools.ts";
import { usageBars } from "./usage-bars.ts";

function columnsFor(screen: Screen): readonly Column<Resource>[] {
  return [
    { header: "RESOURCE", cell: ({ name }) => name },
    { header: "POOL", cell: ({ pool }) => pool },
    { header: "STATE", cell: ({ state, drained }) => (drained ? "drained" : state) },
    { header: "LEASES", cell: ({ shares = [] }) => String(shares.length), align: "right" },
    { header: "USAGE", cell: ({ usage = [] }) => usageBars(usage, screen.unicode), whole: true },
    { header: "TAINTS", cell: ({ taints = [] }) => taints.join(" "), wide: true },
    { header: "LABELS", cell: ({ labels }) => formatLabels(labels), wide: true },
  ];
}

export const showPools: CliCommand = {
  args: [["[pool...]", "only these pools"]],
  options: listOptions(),
  help: "\nShows the resources of shared pools: how much of each dimension is in use.",
  completes: poolNames,
  run: (context) =>
    list(context, {
      columns: columnsFor(context.screen),
      nameOf: ({ name }) => name,
      read: () => readSharedResources(context),
      emptyText: "There is no shared pool. List all pools: berth pools",
    }),
};

async function readSharedResources({ args, client }: Context): Promise<Resource[]> {
  const names = args.length === 0 ? [undefined] : args;
  const found = await Promise.all(names.map((pool) => client.everyResource({ pool })));
  return found.flat().filter(({ usage }) => usage !== undefined);
}
