import type { AskBody } from "../../api/schemas.ts";
import type { AcquireOptions, HeldLease } from "../../client/berth-client.ts";
import type { Context } from "../cli-command.ts";
import { Interrupted } from "../failure.ts";
import { type Screen, screenOf } from "../terminal/screen.ts";
import type { WaitFlags } from "./request-flags.ts";
import { exitCodeOfSignal, isEnding, type SignalDesk } from "./signals.ts";
import { waitingDisplay } from "./waiting-display.ts";

/** Somebody at a terminal wants to see the line move; a thousand builds need not ask so often. */
const pollMsOnTerminal = 5_000;

export function waitForLease(
  { client }: Context,
  ask: AskBody,
  flags: WaitFlags,
  desk: SignalDesk,
): Promise<HeldLease> {
  return waitInLine((options) => client.acquire(ask, options), flags, desk);
}

/** Waits with a visible place in line. A signal leaves the queue; a second one does not wait. */
export async function waitInLine(
  wait: (options: AcquireOptions) => Promise<HeldLease>,
  { timeout, connectTimeout }: WaitFlags,
  desk: SignalDesk,
): Promise<HeldLease> {
  const stop = stoppedBy(desk);
  const screen = stderrScreen();
  const display = waitingDisplay(process.stderr, screen);
  try {
    return await wait({
      signal: stop,
      timeoutMs: timeout,
      connectMs: connectTimeout,
      ...(screen.width() === undefined ? undefined : { pollMs: pollMsOnTerminal }),
      onWaiting: (request) => display.show(request),
      onTrouble: (error) => display.trouble(error),
    });
  } finally {
    display.end();
    desk.keep();
  }
}

/** Aborts with the first signal that means the end; the second one ends the process at once. */
export function stoppedBy(desk: SignalDesk): AbortSignal {
  const stop = new AbortController();
  desk.handTo((signal) => {
    if (signal === "SIGTSTP") process.kill(process.pid, "SIGSTOP"); // As Ctrl-Z does without us.
    if (!isEnding(signal)) return;
    if (stop.signal.aborted) process.exit(exitCodeOfSignal(signal));
    stop.abort(new Interrupted(exitCodeOfSignal(signal)));
  });
  return stop.signal;
}

export function stderrScreen(): Screen {
  return screenOf(process.stderr, !process.argv.includes("--no-color"), process.env);
}
