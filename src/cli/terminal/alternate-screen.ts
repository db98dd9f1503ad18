import type { Context } from "../cli-command.ts";
import { paint } from "./screen.ts";
import { cutTo } from "./text.ts";

/** Switches to the alternate screen, hides the cursor and disables line wrap. */
const enter = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const leave = "\u001b[?7h\u001b[?25h\u001b[?1049l";

/**
 * Draws lines in place, in one write, so that nothing flickers. A terminal uses its alternate screen,
 * so that a smaller window leaves no remains of older lines, and so that the user gets the old screen
 * back at the end.
 */
export class AlternateScreen implements Disposable {
  readonly #context: Context;
  #entered = false;
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
    const room = Math.max(1, height - notice.length);
    const all = lines.flatMap((line) => line.split("\n"));
    const fits = all.length <= room;
    const shown = fits ? all : [...all.slice(0, room - 1), `… ${all.length - room + 1} more`];
    // Clears each line before writing it. Afterwards, a full line would lose its last character.
    const body = [...shown, ...notice].map((line) => `\u001b[2K${line}`).join("\n");
    const below = shown.length + notice.length < height ? "\n\u001b[J" : "";
    const before = this.#entered ? "" : enter;
    this.#entered = true;
    process.stdout.write(`${before}\u001b[?2026h\u001b[H${body}${below}\u001b[?2026l`);
  }

  /** Switches back to the normal screen. */
  [Symbol.dispose](): void {
    if (this.#entered) process.stdout.write(leave);
    this.#entered = false;
  }

  /** A file or a pipe gets the lines each time that they have changed. */
  #append(lines: readonly string[]): void {
    const text = lines.join("\n");
    if (text === this.#last) return;
    this.#context.print(this.#last === "" ? text : `\n${text}`);
    this.#last = text;
  }
}
