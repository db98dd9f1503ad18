import type { Screen } from "./screen.ts";

const width = 30;
/** The minimum time between two redraws. */
const drawMsMin = 50;

/** A progress bar on a terminal, cleared at the end. Prints nothing to a pipe. */
export class ProgressBar {
  readonly #screen: Screen;
  readonly #out: NodeJS.WriteStream;
  #drawnAtMs = 0;

  constructor(screen: Screen, out: NodeJS.WriteStream = process.stderr) {
    this.#screen = screen;
    this.#out = out;
  }

  show(share: number, what: string): void {
    const nowMs = performance.now();
    if (!this.#out.isTTY || nowMs - this.#drawnAtMs < drawMsMin) return;
    this.#drawnAtMs = nowMs;
    const [full, empty] = this.#screen.unicode ? ["█", "░"] : ["#", "."];
    const cells = Math.round(share * width);
    const bar = (full ?? "").repeat(cells) + (empty ?? "").repeat(width - cells);
    this.#out.write(`\r${bar} ${Math.round(share * 100)} % ${what}\u001b[K`);
  }

  end(): void {
    if (this.#drawnAtMs > 0) this.#out.write("\r\u001b[K");
  }
}
