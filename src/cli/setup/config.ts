import type { ParsedConfig } from "../../config/parse.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";
import { countOf } from "../terminal/text.ts";

interface CheckFlags {
  readonly output: "table" | "json" | "yaml";
}

const check: CliCommand = {
  args: [["<file>", "the configuration file"]],
  options: [outputFlag("table", "json", "yaml")],
  help: "\nThe server reloads a changed file, and keeps the old configuration if the file is bad.",
  async run({ args: [file = ""], flags, note, print }) {
    const { output } = flags<CheckFlags>();
    const { loadConfig } = await import("../../config/load.ts");
    const parsed = await loadConfig(file);
    if (output !== "table") print(await formatData(summary(parsed), output));
    else await printResult(file, parsed, { note, print });
    return parsed.ok ? exitCodes.ok : exitCodes.badConfiguration;
  },
};

const schema: CliCommand = {
  help: "\nReference it in the file: # yaml-language-server: $schema=berth.schema.json",
  async run({ print }) {
    const { configJsonSchema } = await import("../../config/schema.ts");
    print(JSON.stringify(configJsonSchema(), undefined, 2));
    return undefined;
  },
};

export const config: CliCommand = {
  subcommands: {
    check: { summary: "Check a file and list all problems", command: check },
    schema: { summary: "Print the JSON Schema of the file, for editors", command: schema },
  },
};

function summary(parsed: ParsedConfig): object {
  if (!parsed.ok) return parsed;
  const { format, warnings } = parsed;
  const janitors = new Set(parsed.janitors.map(({ pool }) => pool));
  const pools = parsed.pools.map(({ name, members, policy: { dynamic } }) => ({
    name,
    resources: members.length,
    ...(dynamic && { dynamic: { min: dynamic.min, max: dynamic.max } }),
    ...(janitors.has(name) && { janitor: true }),
  }));
  return { ok: true, format, pools, warnings };
}

async function printResult(
  file: string,
  parsed: ParsedConfig,
  to: { note(text: string): void; print(text: string): void },
): Promise<void> {
  const { formatProblem, formatWarning } = await import("../../config/document.ts");
  if (!parsed.ok) {
    for (const problem of parsed.problems) to.note(formatProblem(problem));
    return;
  }
  for (const warning of parsed.warnings) to.note(formatWarning(warning));
  const resources = parsed.pools.reduce((sum, { members }) => sum + members.length, 0);
  const more = parsed.pools.reduce((sum, { policy }) => sum + (policy.dynamic?.max ?? 0), 0);
  const found = [
    countOf(parsed.pools.length, "pool"),
    countOf(resources, "resource"),
    ...(more === 0 ? [] : [`up to ${more} on demand`]),
  ];
  to.print(`${file} is good: ${found.join(", ")}`);
}
