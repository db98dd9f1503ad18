import { CommanderError } from "commander";
import { exitCodes } from "./exit-codes.ts";
import { failureOf, Interrupted } from "./failure.ts";
import { parseCommandLine } from "./program.ts";
import { paint, screenOf } from "./terminal/screen.ts";

/** Who reads us may stop early, as `head` does. That is no failure of ours. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
});

/** Nobody reads what we say; what we do goes on: a command still needs its heartbeats. */
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const argv = process.argv.slice(2);
try {
  const start = argv[0] === "__complete" ? await completing() : await parseCommandLine(asked(argv));
  // Not `process.exit`: a server goes on, and what is written to a pipe must get there.
  process.exitCode = (await start()) ?? exitCodes.ok;
} catch (error) {
  process.exitCode = tell(error);
}

/** `berth` alone and `berth help run` want help. */
function asked([first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return ["--help"];
  return first === "help" ? [...rest, "--help"] : [first, ...rest];
}

/** Not in the table of commands, because it reads that table; nor is it for people to type. */
async function completing(): Promise<() => Promise<undefined>> {
  const { complete } = await import("./complete.ts");
  return () => complete(argv.slice(2));
}

/** Says what went wrong and returns the exit code for it. */
function tell(error: unknown): number {
  // Help and version, which are printed already; of `berth config` alone the help is the answer.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof Interrupted) return error.exitCode;
  const failure = failureOf(error);
  const screen = screenOf(process.stderr, !argv.includes("--no-color"), process.env);
  const prefix = paint(screen, "red", "berth:");
  if (failure === undefined) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${prefix} This is a bug in berth. Please report it with this text.\n`);
    process.stderr.write(`${text}\n`);
    return exitCodes.bug;
  }
  process.stderr.write(`${prefix} ${failure.message}\n  ${failure.hint}\n`);
  return failure.exitCode;
}
