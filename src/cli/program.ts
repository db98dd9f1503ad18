import { Command, CommanderError } from "commander";
import { BerthClient } from "../client/berth-client.ts";
import type { CliCommand, Context } from "./cli-command.ts";
import { commands } from "./commands.ts";
import { globalFlags } from "./flags.ts";
import { screenOf } from "./terminal/screen.ts";
import { inOurWords } from "./usage.ts";
import { fromEnvironment, serverUrl } from "./values.ts";
import { versionText } from "./version.ts";

type Start = () => Promise<number | undefined>;

/** Reads the command line as a whole before anything is done; what it returns does it. */
export async function parseCommandLine(argv: readonly string[]): Promise<Start> {
  let start: Start | undefined;
  const program = await programFor(argv, (command, args, sources) => {
    start = async () => command.run?.(contextOf(args, sources));
  });
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    throw error instanceof CommanderError ? inOurWords(error, program, argv) : error;
  }
  return start ?? (async () => undefined);
}

type Chosen = (command: CliCommand, args: readonly string[], sources: readonly Command[]) => void;

/** Every command by name, but only the one that is called with its options. */
export async function programFor(argv: readonly string[], chosen: Chosen): Promise<Command> {
  const program = prepared(new Command("berth"))
    .description("Lends scarce test infrastructure to CI jobs, one fair queue at a time")
    .version(versionText(), "-V, --version", "print the version")
    .usage("COMMAND [options]")
    .enablePositionalOptions()
    .addHelpText("after", "\nberth COMMAND --help tells more about each.");
  for (const option of globalFlags()) program.addOption(option);
  const called = calledCommand(argv);
  for (const { name, summary, group, load } of commands) {
    const command = prepared(program.command(name)).description(summary);
    command.helpGroup(`${group}:`);
    if (name === called) declare(command, await load(), [program], chosen);
  }
  return program;
}

function prepared(command: Command): Command {
  return command
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} }) // `main` says it, in our words.
    .configureHelp({ subcommandTerm: (each) => each.name(), helpWidth: helpWidth() });
}

/** Into a pipe as wide as the documentation is. */
function helpWidth(): number {
  return Math.min(process.stdout.columns ?? 100, 100);
}

function declare(into: Command, command: CliCommand, above: Command[], chosen: Chosen): void {
  for (const [name, description] of command.args ?? []) into.argument(name, description);
  for (const option of [...(command.options ?? []), ...globalFlags()]) into.addOption(option);
  if (command.passThrough) into.passThroughOptions();
  if (command.help !== undefined) into.addHelpText("after", command.help);
  for (const [name, { summary, command: sub }] of Object.entries(command.subcommands ?? {})) {
    declare(prepared(into.command(name)).description(summary), sub, [...above, into], chosen);
  }
  if (command.run === undefined) return;
  into.action(() => chosen(command, into.args, [...above, into]));
}

/** The first word that is not an option. */
function calledCommand(argv: readonly string[]): string | undefined {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "--server") at += 1;
    else if (word !== undefined && !word.startsWith("-")) return word;
  }
  return undefined;
}

/** Options of a command come after those before its name, and so win. */
export function contextOf(args: readonly string[], sources: readonly Command[]): Context {
  const options = sources.map((command) => command.opts<Record<string, unknown>>());
  const merged = Object.assign({}, ...options);
  const wantsColour = options.every(({ color }) => color !== false);
  const url = merged.server ?? fromEnvironment("BERTH_URL", serverUrl) ?? "http://127.0.0.1:8080";
  return {
    args,
    flags: () => merged,
    client: new BerthClient({ url }),
    screen: screenOf(process.stdout, wantsColour, process.env),
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  };
}
