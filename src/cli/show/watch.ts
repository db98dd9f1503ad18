import { once } from "node:events";
import { Problem } from "../../api/problem.ts";
import { BerthUnreachable } from "../../client/errors.ts";
import { pause } from "../../client/pause.ts";
import type { Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { Interrupted } from "../failure.ts";
import { exitCodeOfSignal, type SignalName } from "../run/signals.ts";
import { AlternateScreen } from "../terminal/alternate-screen.ts";
import { QuitKeys } from "../terminal/quit-keys.ts";

/** The minimum time between two refreshes. */
const drawMsMin = 250;
/** The maximum time between two refreshes, because ages grow and events may get lost. */
const drawMsMax = 5_000;
/** The retry interval while the server does not answer. */
const retryMs = 1_000;

/**
 * Draws the result of `read`, and again on every change, until q or Ctrl-C. If the first read fails,
 * it throws. Later failures are shown and retried.
 */
export async function watch(
  context: Context,
  read: () => Promise<readonly string[]>,
  none: string,
  follow: Follow = followServer,
): Promise<undefined> {
  const stop = new AbortController();
  const interrupt = (name: SignalName) => stop.abort(new Interrupted(exitCodeOfSignal(name)));
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  const changed = new EventTarget();
  const change = () => changed.dispatchEvent(new Event("change"));
  let lines = await read();
  using screen = new AlternateScreen(context);
  const isOnTerminal = context.screen.width() !== undefined;
  const quit = () => stop.abort(new Interrupted(exitCodes.ok));
  using _keys = isOnTerminal ? new QuitKeys({ quit, signal: interrupt }) : undefined;
  void follow(context, stop.signal, change);
  process.stdout.on("resize", change);
  for (let lost: string | undefined; ; ) {
    screen.draw(lines.length === 0 ? [none] : lines, lost);
    const next = once(changed, "change", { signal: stop.signal }).catch(() => {});
    await pause(drawMsMin, stop.signal);
    await Promise.race([next, pause(lost === undefined ? drawMsMax : retryMs, stop.signal)]);
    stop.signal.throwIfAborted();
    try {
      lines = await read();
      lost = undefined;
    } catch (error) {
      const passes = error instanceof BerthUnreachable || error instanceof Problem;
      if (!passes) throw error;
      lost = `${error.message}; retrying`;
    }
  }
}

/** Calls `change` whenever the data may have changed, until `signal` aborts. */
export type Follow = (context: Context, signal: AbortSignal, change: () => void) => Promise<void>;

/** Uses events only as a trigger; `read` gets the data. */
async function followServer(
  { client }: Context,
  signal: AbortSignal,
  change: () => void,
): Promise<void> {
  try {
    for await (const _ of client.events({ signal, onOpen: change, onRetry: change })) change();
  } catch {
    // Without events the screen is still refreshed every `drawMsMax`.
  }
}
