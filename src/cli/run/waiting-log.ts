import { plain } from "../terminal/text.ts";
import {
  type Waiting,
  type WaitingDisplay,
  type WaitSnapshot,
  waitingText,
} from "./waiting-text.ts";

/** At most one line in this time. */
const lineMsMin = 60_000;
/** At least one line in this time: many CI systems stop a build without output. */
const lineMsMax = 5 * 60_000;

/** Shows a wait in a build log: one line for each change. */
export class WaitingLog implements WaitingDisplay {
  readonly #write: (text: string) => void;
  #snapshot: WaitSnapshot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #lastContent = "";
  #isRetrying = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(request: Waiting): void {
    this.#snapshot = { request, readAtMs: performance.now() };
    if (this.#isRetrying) this.#write("berth: The server answers again\n");
    this.#isRetrying = false;
    this.#schedule();
  }

  /** Prints the first error of an outage at once, because it may explain why a build hangs. */
  retrying({ message }: Error): void {
    if (!this.#isRetrying) this.#write(`berth: ${plain(message)}; retrying\n`);
    this.#isRetrying = true;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const dueMs = this.#content() === this.#lastContent ? lineMsMax : lineMsMin;
    const waitMs = this.#lastAtMs + dueMs - performance.now();
    if (waitMs <= 0) this.#print();
    else this.#timer = setTimeout(() => this.#print(), waitMs);
  }

  #print(): void {
    if (this.#snapshot === undefined) return;
    this.#lastAtMs = performance.now();
    this.#lastContent = this.#content();
    this.#write(`${waitingText(this.#snapshot, this.#lastAtMs)}\n`);
    this.#schedule();
  }

  /** What makes a new line: position and reason. The estimate changes with every poll. */
  #content(): string {
    if (this.#snapshot === undefined) return "";
    const { position, reason } = this.#snapshot.request;
    return `${position} ${reason.message}`;
  }
}
