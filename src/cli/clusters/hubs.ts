import type { Hub, HubCluster } from "../../api/hub-schemas.ts";
import type { HubState } from "../../core/model/hub.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { userAtHost } from "../run/holder.ts";
import { formatAge, formatSeconds } from "../show/age.ts";
import { list, listOptions } from "../show/listing.ts";
import type { Column } from "../terminal/table.ts";
import { plain } from "../terminal/text.ts";
import { matching } from "../values.ts";

const columns: readonly Column<Hub>[] = [
  { header: "NAME", cell: ({ name }) => name },
  { header: "STATE", cell: formatState },
  { header: "CLUSTERS", cell: formatLimit, align: "right" },
  { header: "LENT", cell: ({ clusters }) => String(clusters.lent), align: "right" },
  { header: "STOCK", cell: ({ clusters }) => String(clusters.stock), align: "right" },
  { header: "IN FLIGHT", cell: ({ clusters }) => String(clusters.inFlight), align: "right" },
  {
    header: "FAILURES",
    cell: ({ failures }) => `${failures.recent}/${failures.of}`,
    align: "right",
  },
  { header: "MESSAGE", cell: formatMessage, worth: 3 },
  { header: "LABELS", cell: ({ labels }) => pairs(labels), wide: true },
  { header: "VERSIONS", cell: ({ versions }) => versions.join(",") || "-", wide: true },
  { header: "KINDS", cell: ({ kinds }) => kinds.join(",") || "-", wide: true },
  { header: "READY", cell: ({ ready }) => pairs(ready), wide: true },
  { header: "POOLS", cell: ({ pools }) => pools.join(",") || "-", wide: true },
];

/** As kubectl does for nodes: `unreachable,cordoned`. */
function formatState({ state, setState }: Hub): string {
  return state === setState || setState === "active" ? state : `${state},${setState}`;
}

function formatLimit({ clusters, limit }: Hub): string {
  return limit === null ? String(clusters.total) : `${clusters.total}/${limit}`;
}

function formatMessage({ outage, set, isProbed, isRetired, missingKinds }: Hub): string {
  if (outage !== null) return `for ${formatAge(outage.since)}: ${outage.error}`;
  if (isRetired) return "no longer in the configuration";
  if (!isProbed) return "no probe has answered yet";
  if (missingKinds.length > 0) return `it does not serve ${missingKinds.join(", ")}`;
  if (set === null) return "-";
  return set.why === "" ? `by ${set.by}` : `${set.by}: ${set.why}`;
}

function pairs(entries: Readonly<Record<string, string | number>>): string {
  return (
    Object.entries(entries)
      .map(([key, value]) => `${key}=${value}`)
      .join(",") || "-"
  );
}

export const hubs: CliCommand = {
  args: [["[hub...]", "only these hubs"]],
  options: listOptions(),
  help: `
CLUSTERS are those of Berth, with the limit of the hub. FAILURES counts failed creations among the
last ones. A hub that cannot be reached keeps its clusters: nothing is begun, lent or given up there
until it answers again.

Examples:
  berth hubs -o wide
  berth hubs cordon hub-east --reason "upgrade of Hive"
  berth hubs drain hub-east
  berth hubs clusters hub-east`,
  subcommands: {
    cordon: { summary: "Make no new clusters on a hub", command: setting("cordoned") },
    drain: { summary: "Also replace idle clusters elsewhere", command: setting("draining") },
    uncordon: { summary: "Use a hub again", command: setting("active") },
    clusters: {
      summary: "List all clusters on a hub, whoever has made them",
      command: clustersOf(),
    },
  },
  completes: hubNames,
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ name }) => name,
      read: () => readHubs(context),
      emptyText: "There are no hubs: the configuration has no section `hubs`",
    }),
};

async function readHubs({ args, client }: Context): Promise<readonly Hub[]> {
  if (args.length > 0) return Promise.all(args.map((name) => client.hubs.one(name)));
  return (await client.hubs.list()).items;
}

async function hubNames({ client }: Pick<Context, "client">): Promise<string[]> {
  return (await client.hubs.list()).items.map(({ name }) => name);
}

const said: Readonly<Record<HubState, string>> = {
  active: "is used again",
  cordoned: "gets no new clusters; use it again with: berth hubs uncordon",
  draining: "gets no new clusters, and idle ones are replaced elsewhere",
};

function setting(state: HubState): CliCommand {
  return {
    args: [["<hub>", "the hub's name"]],
    completes: hubNames,
    options: [
      flag(
        "--reason <why>",
        "the reason, recorded with it",
        matching(/\S/, 1_024, "a reason in words"),
      ),
    ],
    async run({ args, client, flags, print }) {
      const [name = ""] = args;
      const { reason } = flags<{ readonly reason?: string }>();
      const why = reason === undefined ? undefined : { reason };
      await client.hubs.set(name, { state, by: userAtHost(), ...why });
      print(plain(`${name} ${said[state]}${state === "cordoned" ? ` ${name}` : ""}`));
      return undefined;
    },
  };
}

const found: readonly Column<HubCluster>[] = [
  { header: "KIND", cell: ({ kind }) => kind },
  { header: "NAMESPACE", cell: ({ namespace }) => namespace || "-" },
  { header: "NAME", cell: ({ name }) => name },
  { header: "STATE", cell: ({ state }) => state },
  {
    header: "AGE",
    cell: ({ ageSeconds }) => (ageSeconds === null ? "-" : formatSeconds(ageSeconds)),
  },
  { header: "OWNER", cell: ({ owner }) => owner ?? "-" },
  { header: "BERTH", cell: ({ cluster }) => cluster ?? "-" },
  { header: "HOLDER", cell: ({ lease }) => lease?.holder ?? "-" },
];

function clustersOf(): CliCommand {
  return {
    args: [["<hub>", "the hub's name"]],
    completes: hubNames,
    options: listOptions(),
    help: `
Shows the HostedClusters and ClusterDeployments with the labels of foreign: of the hub. BERTH is the name
of a cluster that Berth has made, HOLDER whoever holds it. A line without both is nobody's lease.`,
    run: (context) =>
      list(context, {
        columns: found,
        nameOf: ({ name }) => name,
        read: async () => (await context.client.hubs.clusters(context.args[0] ?? "")).items,
        emptyText:
          "No clusters are known. Those that Berth has not made are listed if the hub has `foreign` in the configuration",
      }),
  };
}
