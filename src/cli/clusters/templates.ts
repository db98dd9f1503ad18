import type { Template } from "../../api/cluster-schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { list, listOptions } from "../show/listing.ts";
import type { Column } from "../terminal/table.ts";

const columns: readonly Column<Template>[] = [
  { header: "NAME", cell: ({ name }) => name },
  { header: "DRIVER", cell: ({ driver }) => driver },
  { header: "PARAMETERS", cell: ({ parameters }) => formatParameters(parameters) },
  { header: "COST", cell: ({ cost }) => String(cost), align: "right" },
  { header: "POOLS", cell: ({ pools }) => pools.join(",") || "-" },
  { header: "CANNOT BE USED", cell: ({ unusable }) => unusable ?? "", optional: true },
  { header: "REVISION", cell: ({ revision }) => revision, wide: true },
  { header: "PINNED", cell: ({ pinned }) => pinned.join(",") || "-", wide: true },
  {
    header: "CREDENTIALS",
    cell: ({ ownCredentials }) => ownCredentials ?? "shared",
    wide: true,
  },
  { header: "CREATE WITHIN", cell: ({ limits }) => limits.create, wide: true },
];

/** `version=4.19|4.20 (4.20), workers=integer`: the choices or the type, and the default. */
function formatParameters(parameters: Template["parameters"]): string {
  const texts = Object.entries(parameters).map(([name, schema]) => {
    const { enum: choices, type, default: fallback } = Object(schema);
    const allowed = Array.isArray(choices) ? choices.join("|") : String(type ?? "any");
    return `${name}=${allowed}${fallback === undefined ? "" : ` (${fallback})`}`;
  });
  return texts.join(", ") || "-";
}

export const templates: CliCommand = {
  args: [["[template...]", "only these templates"]],
  options: listOptions(),
  help: `
Templates say how clusters are made. A request for a pool of clusters may set the parameters that are
listed here; the default is in brackets. -o yaml shows the whole schema of each.

Examples:
  berth templates
  berth templates ocp-aws -o yaml
  berth run --pool ocp-4.20 --parameter version=4.19 --parameter workers=3 -- ./e2e.sh`,
  completes: async ({ client }) =>
    (await client.clusters.templates()).items.map(({ name }) => name),
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ name }) => name,
      read: () => readTemplates(context),
      emptyText: "There are no templates: the configuration has no templates:",
    }),
};

async function readTemplates({ args, client }: Context): Promise<readonly Template[]> {
  if (args.length === 0) return (await client.clusters.templates()).items;
  return Promise.all(args.map((name) => client.clusters.template(name)));
}
