import type { Resource } from "../../api/schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { onceFlag } from "../flags.ts";
import { poolMustExist } from "../operate/pool-must-exist.ts";
import type { Column } from "../terminal/table.ts";
import { formatAge, formatLabels, timeUntil } from "./age.ts";
import { list, listOptions } from "./listing.ts";

interface Flags {
  readonly pool?: string;
  readonly state?: string;
}

const columns: readonly Column<Resource>[] = [
  { header: "NAME", cell: ({ name }) => name },
  { header: "POOL", cell: ({ pool }) => pool },
  { header: "STATE", cell: formatState },
  { header: "HOLDER", cell: ({ lease }) => lease?.holder ?? "-" },
  { header: "AGE", cell: ({ changedAt, lease }) => formatAge(lease?.since ?? changedAt) },
  { header: "NOTE", cell: noteOf },
  { header: "LEASE", cell: ({ lease }) => lease?.id ?? "-", wide: true },
  { header: "FENCE", cell: ({ lease }) => String(lease?.fence ?? "-"), align: "right", wide: true },
  { header: "COOLING FOR", cell: ({ restsUntil }) => timeUntil(restsUntil), wide: true },
  { header: "LABELS", cell: ({ labels }) => formatLabels(labels), wide: true },
  { header: "USER DATA", cell: ({ userDataKeys }) => userDataKeys.join(","), wide: true },
];

export const resources: CliCommand = {
  args: [["[resource...]", "only these resources"]],
  options: [
    onceFlag("--pool <pool>", "only resources of this pool"),
    onceFlag("--state <state>", "only resources in this state, such as free, busy or quarantined"),
    ...listOptions(),
  ],
  completes: (context) => resourceNames(context, () => true),
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ name }) => name,
      read: () => readResources(context),
      emptyText: "No resource matches. List all: berth resources",
    }),
};

async function readResources({ args, client, flags }: Context): Promise<Resource[]> {
  if (args.length > 0) return Promise.all(args.map((name) => client.resource(name)));
  const { pool, state } = flags<Flags>();
  const found = await client.everyResource({ pool, state });
  if (found.length === 0) await poolMustExist(client, pool);
  return found;
}

export async function resourceNames(
  { client }: Context,
  fits: (resource: Resource) => boolean,
): Promise<string[]> {
  return (await client.everyResource()).filter(fits).map(({ name }) => name);
}

/** Servers before this field, and callers of one space, have only the note. */
function noteOf({ note, drainedBy }: Resource): string {
  if (drainedBy === undefined) return note;
  const { by, why } = drainedBy;
  const drained = `drained by ${by}${why === "" ? "" : `: ${why}`}`;
  return note === "" ? drained : `${drained}; ${note}`;
}

/** Adds `drained` to a held resource, and `retiring` to one that is removed when it is released. */
export function formatState({ state, drained, retiring }: Resource): string {
  const draining = drained && state !== "drained" ? ",drained" : "";
  return `${state}${draining}${retiring ? ",retiring" : ""}`;
}
