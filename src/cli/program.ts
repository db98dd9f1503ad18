import { Command, CommanderError } from "commander";
import { commandLineAgent } from "../api/user-agent.ts";
import { BerthClient } from "../client/berth-client.ts";
import type { CliCommand, Context } from "./cli-command.ts";
import { commands } from "./commands.ts";
import { globalFlags } from "./flags.ts";
import { findCredentials } from "./identity/credentials.ts";
import { trustAuthorities } from "./identity/trust-authorities.ts";
import { screenOf } from "./terminal/screen.ts";
import { toUsageError } from "./usage.ts";
import { fromEnvironment, serverUrl } from "./values.ts";
import { versionText } from "./version.ts";

type Start = () => Promise<number | undefined>;

/** Parses the whole command line before anything runs. Call the result to run the command. */
export async function parseCommandLine(argv: readonly string[]): Promise<Start> {
  let start: Start | undefined;
  const program = await programFor(argv, (command, args, sources) => {
    start = async () => {
      const context = contextOf(args, sources);
      const code = await command.run?.(context);
      if (context.isServerIgnored()) context.note("--server had no effect: no server was called");
      return code;
    };
  });
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    throw error instanceof CommanderError ? toUsageError(error, program, argv) : error;
  }
  return start ?? (async () => undefined);
}

type Chosen = (command: CliCommand, args: readonly string[], sources: readonly Command[]) => void;

/** Declares every command by name, but loads the options of the called command only. */
export function programFor(argv: readonly string[], chosen: Chosen): Promise<Command> {
  const called = calledCommandName(argv);
  return declareProgram((name) => name === called, chosen);
}

/** Every command with its options, for the manual page. */
export function wholeProgram(): Promise<Command> {
  return declareProgram(
    () => true,
    () => {},
  );
}

async function declareProgram(
  isLoaded: (name: string) => boolean,
  chosen: Chosen,
): Promise<Command> {
  const program = configureCommand(new Command("berth"))
    .description("Lends scarce test infrastructure to CI jobs, one fair queue at a time")
    .version(versionText(), "-V, --version", "print the version")
    .usage("COMMAND [options]")
    .enablePositionalOptions()
    .addHelpText("after", "\nRun berth COMMAND --help for more about a command.");
  for (const option of globalFlags()) program.addOption(option);
  for (const { name, summary, group, load } of commands) {
    const command = configureCommand(program.command(name)).description(summary);
    command.helpGroup(`${group}:`);
    if (isLoaded(name)) declareCommand(command, await load(), [program], chosen);
  }
  return program;
}

function configureCommand(command: Command): Command {
  return command
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} }) // `main` prints the error.
    .configureHelp({ subcommandTerm: (each) => each.name(), helpWidth: helpWidth() });
}

/** Help for a pipe has 100 columns, like the documentation. */
function helpWidth(): number {
  return Math.min(process.stdout.columns ?? 100, 100);
}

function declareCommand(
  into: Command,
  command: CliCommand,
  above: Command[],
  chosen: Chosen,
): void {
  for (const [name, description] of command.args ?? []) into.argument(name, description);
  for (const option of [...(command.options ?? []), ...globalFlags()]) into.addOption(option);
  if (command.passThrough) into.passThroughOptions();
  if (command.help !== undefined) into.addHelpText("after", command.help);
  for (const [name, { summary, command: sub }] of Object.entries(command.subcommands ?? {})) {
    declareCommand(
      configureCommand(into.command(name)).description(summary),
      sub,
      [...above, into],
      chosen,
    );
  }
  if (command.run === undefined) return;
  into.action(() => chosen(command, into.args, [...above, into]));
}

const withValue = globalFlags().flatMap(({ long, required }) => (required && long ? long : []));

/** The first word that is neither an option nor the value of one. */
function calledCommandName(argv: readonly string[]): string | undefined {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word !== undefined && withValue.includes(word)) at += 1;
    else if (word !== undefined && !word.startsWith("-")) return word;
  }
  return undefined;
}

interface OwnContext extends Context {
  /** Whether the caller has named a server and the command did not ask for its client. */
  readonly isServerIgnored: () => boolean;
}

/** `sources` are the program and its subcommands, outermost first. Inner options win. */
export function contextOf(args: readonly string[], sources: readonly Command[]): OwnContext {
  const options = sources.map((command) => command.opts<Record<string, unknown>>());
  const merged = Object.assign({}, ...options);
  const wantsColour = options.every(({ color }) => color !== false);
  const url = merged.server ?? fromEnvironment("BERTH_URL", serverUrl) ?? "http://127.0.0.1:8080";
  trustAuthorities(merged.caFile);
  const token = findCredentials(merged.tokenFile, url);
  const client = new BerthClient({ url, token, userAgent: commandLineAgent });
  let isUsed = false;
  return {
    args,
    flags: () => merged,
    get client() {
      isUsed = true;
      return client;
    },
    isServerIgnored: () => merged.server !== undefined && !isUsed,
    screen: screenOf(process.stdout, wantsColour, process.env),
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  };
}
