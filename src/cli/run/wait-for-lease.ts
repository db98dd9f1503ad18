import type { AskBody } from "../../api/schemas.ts";
import type { AcquireOptions, HeldLease } from "../../client/berth-client.ts";
import { roughDuration } from "../../core/model/time.ts";
import type { Context } from "../cli-command.ts";
import { Interrupted } from "../failure.ts";
import { type Screen, screenOf, wantsColour } from "../terminal/screen.ts";
import type { WaitFlags } from "./request-flags.ts";
import { exitCodeOfSignal, isTerminating, type SignalRouter } from "./signals.ts";
import { waitingDisplay } from "./waiting-display.ts";

/** On a terminal we poll more often, to show position changes sooner. CI builds poll less. */
const terminalPollIntervalMs = 5_000;

export function waitForLease(
  { client }: Context,
  ask: AskBody,
  flags: WaitFlags,
  router: SignalRouter,
): Promise<HeldLease> {
  return waitInQueue((options) => client.acquire(ask, options), flags, router);
}

/** Waits and shows the position. The first signal leaves the queue; the second exits at once. */
export async function waitInQueue(
  wait: (options: AcquireOptions) => Promise<HeldLease>,
  { timeout, connectTimeout }: WaitFlags,
  router: SignalRouter,
): Promise<HeldLease> {
  const stop = abortOnSignal(router);
  const screen = stderrScreen();
  const display = waitingDisplay(process.stderr, screen);
  try {
    return await wait({
      signal: stop,
      timeoutMs: timeout,
      connectMs: connectTimeout,
      ...(screen.width() === undefined ? undefined : { pollMs: terminalPollIntervalMs }),
      onWaiting: (request) => display.show(request),
      onRetry: (error) => display.retrying(error),
      onGivingUp: (step, forMs) => {
        display.end();
        process.stderr.write(`${givingUpText(step, forMs)}\n`);
      },
    });
  } finally {
    display.end();
    router.buffer();
  }
}

/** The answer to a request was lost, so that it may hold something that nobody uses. */
function givingUpText(step: "trying" | "failed", forMs: number): string {
  const known = "berth: The server may have granted the request";
  if (step === "trying") return `${known}; trying to release it for ${roughDuration(forMs)}`;
  return `${known}, and it could not be released. It expires after its ttl`;
}

/** Aborts on the first terminating signal. The second one exits the process at once. */
export function abortOnSignal(router: SignalRouter): AbortSignal {
  const stop = new AbortController();
  router.routeTo((signal) => {
    if (signal === "SIGTSTP") process.kill(process.pid, "SIGSTOP"); // Our listener replaced Ctrl-Z.
    if (!isTerminating(signal)) return;
    if (stop.signal.aborted) process.exit(exitCodeOfSignal(signal));
    stop.abort(new Interrupted(exitCodeOfSignal(signal)));
  });
  return stop.signal;
}

export function stderrScreen(): Screen {
  return screenOf(process.stderr, wantsColour(process.argv.slice(2)), process.env);
}
