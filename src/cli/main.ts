import { runCommandLine } from "./command-line.ts";
import { exitCodes } from "./exit-codes.ts";

/** The reader of our output may close the pipe early (for example `head`). This is not an error. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
});

/** If the reader of stderr closes the pipe, we continue: a command still needs its heartbeats. */
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

// `process.exit` would stop a running server, and lose output that is still in a pipe.
process.exitCode = await runCommandLine(process.argv.slice(2));
