import { CommanderError } from "commander";
import { exitCodes } from "./exit-codes.ts";
import { failureOf, Interrupted } from "./failure.ts";
import { parseCommandLine } from "./program.ts";
import { paint, screenOf, wantsColour } from "./terminal/screen.ts";

/** The reader of our output may close the pipe early (for example `head`). This is not an error. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
});

/** If the reader of stderr closes the pipe, we continue: a command still needs its heartbeats. */
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const argv = process.argv.slice(2);
try {
  const start =
    argv[0] === "__complete" ? await startCompletion() : await parseCommandLine(withHelpFlag(argv));
  // `process.exit` would stop a running server, and lose output that is still in a pipe.
  process.exitCode = (await start()) ?? exitCodes.ok;
} catch (error) {
  process.exitCode = reportError(error);
}

/** Turns `berth` into `berth --help`, and `berth help run` into `berth run --help`. */
function withHelpFlag([first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return ["--help"];
  return first === "help" ? [...rest, "--help"] : [first, ...rest];
}

/** `__complete` is called by shells only. It is not in the command table, because it imports it. */
async function startCompletion(): Promise<() => Promise<undefined>> {
  const { complete } = await import("./complete.ts");
  return () => complete(argv.slice(2));
}

/** Prints the error and returns its exit code. */
function reportError(error: unknown): number {
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
