import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { Problem } from "../api/problem.ts";
import { BerthUnreachable } from "../client/errors.ts";
import { pause } from "../client/pause.ts";
import type { Context } from "./cli-command.ts";
import { Interrupted } from "./failure.ts";
import { paint } from "./screen.ts";
import { exitCodeOfSignal } from "./signals.ts";
import { cutTo, widthOf } from "./text.ts";

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
  const picture = new Picture(context);
  let lines = await read();
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
      lost = `${error.message}; trying again`;
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

/** A block of lines that is drawn over itself, in one write, so that nothing flickers. */
class Picture {
  readonly #context: Context;
  #height = 0;
  #last = "";

  constructor(context: Context) {
    this.#context = context;
  }

  draw(lines: readonly string[], lost: string | undefined): void {
    const { screen } = this.#context;
    const [width, height] = [screen.width(), screen.height()];
    if (width === undefined || height === undefined) {
      return this.#append(lost === undefined ? lines : [...lines, lost]);
    }
    const notice = lost === undefined ? [] : [paint(screen, "yellow", cutTo(lost, width))];
    const room = height - 1 - notice.length;
    const fits = lines.length <= room;
    const shown = fits ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more`];
    const all = [...shown, ...notice];
    const up = this.#height > 0 ? `\u001b[${this.#height}A` : "";
    const body = all.map((line) => `${line}\u001b[K\n`).join("");
    process.stdout.write(`\u001b[?2026h${up}\r${body}\u001b[J\u001b[?2026l`);
    this.#height = all.reduce((rows, line) => rows + rowsOf(line, width), 0);
  }

  /** Into a file or a pipe goes each new picture, and none twice. */
  #append(lines: readonly string[]): void {
    const text = lines.join("\n");
    if (text === this.#last) return;
    this.#context.print(this.#last === "" ? text : `\n${text}`);
    this.#last = text;
  }
}

/** A line that is wider than the terminal takes several of its rows. */
function rowsOf(line: string, width: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / width));
}
