import type { Credentials } from "../../api/cluster-schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { readInput } from "../setup/read-input.ts";
import { formatAge } from "../show/age.ts";
import { list, listOptions } from "../show/listing.ts";
import type { Column } from "../terminal/table.ts";
import { plain } from "../terminal/text.ts";

const columns: readonly Column<Credentials>[] = [
  { header: "NAME", cell: ({ name }) => name },
  { header: "VERSION", cell: ({ version }) => String(version), align: "right" },
  { header: "VARIABLES", cell: ({ keys }) => keys.join(",") },
  { header: "AGE", cell: ({ storedAt }) => formatAge(storedAt) },
  { header: "CLUSTERS", cell: ({ clusters }) => String(clusters.length), align: "right" },
  { header: "SPACE", cell: ({ space }) => space ?? "-", wide: true },
  { header: "CLUSTER NAMES", cell: ({ clusters }) => clusters.join(",") || "-", wide: true },
];

const variable = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]{0,127})=(.*)$/;

const put: CliCommand = {
  args: [
    ["<name>", "the name of the credentials in your space"],
    ["[variable...]", "NAME=@FILE, or NAME to take it from the environment"],
  ],
  options: [flag("--env-file <file>", "lines of NAME=VALUE; - reads them from standard input")],
  help: `
Stores credentials that only clusters of your space are made with. The values are sealed on the
server, and no call returns them. A new value is used for new clusters; existing ones are destroyed
with the value that they were made with. Values are not arguments, because other users of a machine
can see these.

Examples:
  berth credentials put aws AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY     from the environment
  berth credentials put aws --env-file aws.env
  berth credentials put pull PULL_SECRET=@pull-secret.json
  berth run --pool byo --credentials aws -- ./e2e.sh`,
  async run(context) {
    const [name = "", ...variables] = context.args;
    const values = { ...(await fromFile(context)), ...(await fromArguments(variables)) };
    if (Object.keys(values).length === 0) {
      const hint = "Add NAME to take a variable of the environment, NAME=@FILE, or --env-file FILE";
      throw usageError(`Cannot store ${plain(name)}: no variable is given`, hint);
    }
    const stored = await context.client.clusters.putCredentials(name, { values });
    context.print(
      plain(`${name} is stored as version ${stored.version}: ${stored.keys.join(", ")}`),
    );
    return undefined;
  },
};

async function fromFile({ flags }: Context): Promise<Record<string, string>> {
  const { envFile } = flags<{ envFile?: string }>();
  if (envFile === undefined) return {};
  const values: Record<string, string> = {};
  for (const [index, line] of (await readInput(envFile)).split("\n").entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, key, value = ""] = variable.exec(line.trim()) ?? [];
    if (key === undefined) {
      const hint = "Each line is NAME=VALUE, a comment or empty";
      throw usageError(`Cannot read line ${index + 1} of ${envFile}: it is not NAME=VALUE`, hint);
    }
    values[key] = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  }
  return values;
}

async function fromArguments(given: readonly string[]): Promise<Record<string, string>> {
  const pairs = given.map(async (text) => {
    const [, key = "", file] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=@(.+))?$/.exec(text) ?? [];
    if (key === "") {
      // The text may be NAME=SECRET, so it is not repeated.
      const hint = "Write NAME to take it from the environment, or NAME=@FILE";
      throw usageError("Cannot use a variable: it is neither NAME nor NAME=@FILE", hint);
    }
    const value = file === undefined ? process.env[key] : await readInput(file);
    if (value === undefined || value === "") {
      throw usageError(
        `Cannot store ${key}: the environment has no such variable`,
        `export ${key}=…`,
      );
    }
    return [key, value] as const;
  });
  return Object.fromEntries(await Promise.all(pairs));
}

const listing: CliCommand = {
  options: listOptions(),
  help: "\nNever shows values. CLUSTERS counts those that still need a version of it.",
  run: (context) =>
    list(context, {
      columns,
      nameOf: ({ name }) => name,
      read: async () => (await context.client.clusters.credentials()).items,
      emptyText: "Your space has no credentials. Store some: berth credentials put NAME VARIABLE…",
    }),
};

const remove: CliCommand = {
  args: [["<name>", "the name of the credentials"]],
  help: `
New requests cannot use it any more. A sealed copy stays until the last cluster that was made with it
is destroyed, and is then erased.`,
  async run({ args: [name = ""], client, print }) {
    await client.clusters.deleteCredentials(name);
    print(plain(`${name} is deleted; a copy stays until its clusters are destroyed`));
    return undefined;
  },
};

export const credentials: CliCommand = {
  subcommands: {
    put: { summary: "Store credentials of your space, or a new value", command: put },
    list: { summary: "List the credentials of your space", command: listing },
    delete: { summary: "Delete credentials of your space", command: remove },
  },
};
