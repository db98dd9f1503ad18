import { once } from "node:events";
import { Problem } from "../../api/problem.ts";
import { BerthUnreachable } from "../../client/errors.ts";
import { pause } from "../../client/pause.ts";
import type { Context } from "../cli-command.ts";
import { Interrupted } from "../failure.ts";
import { exitCodeOfSignal } from "../run/signals.ts";
import { AlternateScreen } from "../terminal/alternate-screen.ts";

/** Changes that come closer together than this are drawn as one. */
const drawMsMin = 250;
/** Ages grow and events get lost: it is drawn at least so often. */
const drawMsMax = 5_000;
/** While the server does not answer, its return is looked for so often. */
const retryMs = 1_000;

/**
 * Draws what `read` returns, again whenever something happens, until Ctrl-C.
 * The first read may fail as any command does; later ones are retried, and the loss is shown.
 */
export async function watch(
  context: Context,
  read: () => Promise<readonly string[]>,
  none: string,
  follow: Follow = followServer,
): Promise<undefined> {
  const ended = new AbortController();
  process.once("SIGINT", () => ended.abort(new Interrupted(exitCodeOfSignal("SIGINT"))));
  process.once("SIGTERM", () => ended.abort(new Interrupted(exitCodeOfSignal("SIGTERM"))));
  const changed = new EventTarget();
  const change = () => changed.dispatchEvent(new Event("change"));
  let lines = await read();
  using picture = new AlternateScreen(context);
  void follow(context, ended.signal, change);
  process.stdout.on("resize", change);
  for (let lost: string | undefined; ; ) {
    picture.draw(lines.length === 0 ? [none] : lines, lost);
    const next = once(changed, "change", { signal: ended.signal }).catch(() => {});
    await pause(drawMsMin, ended.signal);
    await Promise.race([next, pause(lost === undefined ? drawMsMax : retryMs, ended.signal)]);
    ended.signal.throwIfAborted();
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

/** Calls `change` whenever there may be something new to see, until the signal ends it. */
export type Follow = (context: Context, signal: AbortSignal, change: () => void) => Promise<void>;

/** The feed only says when to look; what it tells is read from the listings. */
async function followServer(
  { client }: Context,
  signal: AbortSignal,
  change: () => void,
): Promise<void> {
  try {
    for await (const _ of client.events({ signal, onOpen: change, onTrouble: change })) change();
  } catch {
    // Without a feed there is still the clock.
  }
}
