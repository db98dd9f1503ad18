import { CommanderError } from "commander";
import { exitCodes } from "./exit-codes.ts";
import { failureOf, Interrupted } from "./failure.ts";
import { parseCommandLine } from "./program.ts";
import { paint, screenOf, wantsColour } from "./terminal/screen.ts";

/** Runs one command, reports its error if it fails, and returns its exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  try {
    const start =
      argv[0] === "__complete"
        ? await startCompletion(argv.slice(2))
        : await parseCommandLine(withHelpFlag(argv));
    return (await start()) ?? exitCodes.ok;
  } catch (error) {
    return reportError(error, argv);
  }
}

/** Turns `berth` into `berth --help`, and `berth help run` into `berth run --help`. */
function withHelpFlag([first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return ["--help"];
  return first === "help" ? [...rest, "--help"] : [first, ...rest];
}

/** `__complete` is called by shells only. It is not in the command table, because it imports it. */
async function startCompletion(words: readonly string[]): Promise<() => Promise<undefined>> {
  const { complete } = await import("./complete.ts");
  return () => complete(words);
}

/** Prints the error and returns its exit code. */
function reportError(error: unknown, argv: readonly string[]): number {
  // Commander has printed help or version. Without a subcommand (`berth config`) it exits with 1.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof Interrupted) return error.exitCode;
  const failure = failureOf(error);
  const screen = screenOf(process.stderr, wantsColour(argv), process.env);
  const prefix = paint(screen, "red", "berth:");
  if (failure === undefined) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${prefix} This is a bug in berth. Please report it with this output.\n`);
    process.stderr.write(`${text}\n`);
    return exitCodes.bug;
  }
  process.stderr.write(`${prefix} ${failure.message}\n  ${failure.hint}\n`);
  return failure.exitCode;
}
