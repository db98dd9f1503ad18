import {
  type Waiting,
  type WaitingDisplay,
  type WaitSnapshot,
  waitingText,
} from "../run/waiting-text.ts";
import { paint, type Screen } from "./screen.ts";
import { cutTo, plain } from "./text.ts";

const frameMs = 120;
const frames = { unicode: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", ascii: "|/-\\" } as const;

/** One line of a terminal, redrawn in place. */
export class LiveLine implements WaitingDisplay {
  readonly #write: (text: string) => void;
  readonly #screen: Screen;
  #timer: NodeJS.Timeout | undefined;
  #snapshot: WaitSnapshot | undefined;
  #retryText: string | undefined;
  #frame = 0;

  constructor(write: (text: string) => void, screen: Screen) {
    this.#write = write;
    this.#screen = screen;
  }

  show(request: Waiting): void {
    this.#snapshot = { request, readAtMs: performance.now() };
    this.#retryText = undefined;
    this.#draw();
  }

  retrying({ message }: Error): void {
    this.#retryText = `${plain(message)}; retrying`;
    this.#draw();
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#timer !== undefined) this.#write("\r\u001b[K");
    this.#timer = undefined;
  }

  #draw(): void {
    this.#timer ??= setInterval(() => this.#draw(), frameMs);
    const set = [...(this.#screen.unicode ? frames.unicode : frames.ascii)];
    const spinner = set[this.#frame++ % set.length] ?? "";
    const text =
      this.#retryText ??
      (this.#snapshot === undefined ? "" : waitingText(this.#snapshot, performance.now()));
    // Leaves one column free, because a full line would wrap.
    const line = cutTo(text, (this.#screen.width() ?? 80) - 3);
    const shown = this.#retryText === undefined ? line : paint(this.#screen, "yellow", line);
    this.#write(`\r${paint(this.#screen, "blue", spinner)} ${shown}\u001b[K`);
  }
}
