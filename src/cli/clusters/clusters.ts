import type { Cluster } from "../../api/cluster-schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { onceFlag } from "../flags.ts";
import { poolMustExist } from "../operate/pool-must-exist.ts";
import { formatAge, formatSeconds } from "../show/age.ts";
import { list, listOptions } from "../show/listing.ts";
import type { Column } from "../terminal/table.ts";
import { clusterNames } from "./cluster-names.ts";
import { logs } from "./logs.ts";
import { abandon, adopt, destroy, hold, unhold } from "./operate-clusters.ts";
import { noteOrphans, orphans } from "./orphans.ts";

interface Flags {
  readonly pool?: string;
  readonly state?: string;
  readonly template?: string;
}

const columns: readonly Column<Cluster>[] = [
  { header: "NAME", cell: ({ name }) => name },
  { header: "POOL", cell: ({ pool }) => pool },
  { header: "STATE", cell: formatState },
  { header: "IN STATE", cell: formatPhase },
  { header: "AGE", cell: ({ ageSeconds }) => formatSeconds(ageSeconds) },
  { header: "HOLDER", cell: ({ lease }) => lease?.holder ?? "-" },
  { header: "MESSAGE", cell: formatMessage, worth: 3 },
  { header: "VERSION", cell: ({ version }) => version ?? "-", wide: true },
  { header: "PARAMETERS", cell: formatParameters, wide: true },
  { header: "TEMPLATE", cell: ({ template, revision }) => `${template}@${revision}`, wide: true },
  { header: "SPACE", cell: ({ space }) => space ?? "-", wide: true },
  { header: "PRICE", cell: ({ price }) => String(price), align: "right", wide: true },
  { header: "API", cell: ({ apiUrl }) => apiUrl ?? "-", wide: true },
  { header: "INSTANCE", cell: ({ instance }) => instance, wide: true },
];

function formatState({ state, progress, hold: held }: Cluster): string {
  const part = progress === null ? "" : ` ${Math.round(progress * 100)}%`;
  return `${state}${part}${held === null ? "" : ",held"}`;
}

/** `3m, usually 5m`, while a usual time is known. */
export function formatPhase({ phase }: Pick<Cluster, "phase">): string {
  const spent = formatSeconds(phase.seconds);
  return phase.usualSeconds === null
    ? spent
    : `${spent}, usually ${formatSeconds(phase.usualSeconds)}`;
}

function formatMessage({ message, lost, stuck, hold: held }: Cluster): string {
  if (held !== null) {
    // The server names the operator only to those who see all, and to the space whose cluster it is.
    const who = held.by === "" ? "" : ` by ${held.by}`;
    return `held${who} for ${formatLeft(held.until)}${held.why === "" ? "" : `: ${held.why}`}`;
  }
  if (lost !== null) return `lost: ${lost}`;
  if (stuck !== null) return `stuck: ${stuck.join(", ") || message}`;
  return message || "-";
}

function formatLeft(until: string): string {
  return formatAge(new Date().toISOString(), Date.parse(until));
}

function formatParameters({ parameters }: Cluster): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return pairs.join(",") || "-";
}

export const clusters: CliCommand = {
  args: [["[cluster...]", "only these clusters"]],
  options: [
    onceFlag("--pool <pool>", "only clusters of this pool"),
    onceFlag("--state <state>", "only clusters in this state, such as creating, free or broken"),
    onceFlag("--template <name>", "only clusters of this template"),
    ...listOptions(),
  ],
  help: `
IN STATE compares the time with the usual one of the pool.

Examples:
  berth clusters --watch
  berth clusters --state broken -o wide
  berth clusters logs ocp-4.20-7
  berth clusters hold ocp-4.20-7 --for 2h --reason "router does not start"`,
  subcommands: {
    logs: { summary: "Print the logs that were collected of a cluster", command: logs },
    hold: { summary: "Keep a cluster for debugging", command: hold },
    unhold: { summary: "Let a held cluster go", command: unhold },
    destroy: { summary: "Destroy a cluster that nobody holds", command: destroy },
    abandon: { summary: "Forget a cluster that cannot be destroyed", command: abandon },
    orphans: { summary: "List clusters outside that nobody knows of", command: orphans },
    adopt: { summary: "Take over a cluster that exists outside", command: adopt },
  },
  completes: clusterNames,
  async run(context) {
    await list(context, {
      columns,
      nameOf: ({ name }) => name,
      read: () => readClusters(context),
      emptyText: "There are no such clusters. Pools with a template make them: berth templates",
    });
    if (context.args.length === 0) await noteOrphans(context);
    return undefined;
  },
};

async function readClusters({ args, client, flags }: Context): Promise<readonly Cluster[]> {
  if (args.length > 0) return Promise.all(args.map((name) => client.clusters.one(name)));
  const { pool, state, template } = flags<Flags>();
  const found = await client.clusters.every({ pool, state, template });
  if (found.length === 0) await poolMustExist(client, pool);
  return found;
}
