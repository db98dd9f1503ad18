import type { Orphan } from "../../api/cluster-schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { formatAge, formatSeconds } from "../show/age.ts";
import { list, listOptions } from "../show/listing.ts";
import type { Column } from "../terminal/table.ts";

const columns: readonly Column<Orphan>[] = [
  { header: "NAME", cell: ({ name }) => name },
  { header: "INSTANCE", cell: ({ instance }) => instance },
  { header: "TEMPLATE", cell: ({ template }) => template },
  { header: "SPACE", cell: ({ space }) => space ?? "-", wide: true },
  { header: "KNOWN FOR", cell: ({ seenSeconds }) => formatSeconds(seenSeconds) },
  { header: "AGE", cell: ({ createdAt }) => ageOf(createdAt), wide: true },
];

/** Drivers write times as they like. */
function ageOf(createdAt: string): string {
  return Number.isNaN(Date.parse(createdAt)) ? createdAt : formatAge(createdAt);
}

export const orphans: CliCommand = {
  options: listOptions(),
  help: `
A provisioner asks the drivers every 5 minutes what exists. A cluster that is in no pool is an orphan:
one that was abandoned, or made by hand, or by a server whose journal was lost. After half an hour it
is destroyed if its template says \`orphans: destroy\`. Otherwise destroy it by hand, or adopt it:

  berth clusters adopt NAME --pool POOL --instance INSTANCE`,
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ name }) => name,
      read: () => context.client.clusters.orphans(),
      emptyText: "All clusters that the drivers have found are in the books",
    }),
};

/** Tells of orphans beside the list of clusters. Holders may not see them. */
export async function noteOrphans({ client, note }: Context): Promise<void> {
  const found = await client.clusters.orphans().catch(() => []);
  if (found.length === 0) return;
  const what = found.length === 1 ? "1 cluster exists" : `${found.length} clusters exist`;
  note(`${what} outside that nobody knows of: berth clusters orphans`);
}
