import { plain } from "../terminal/text.ts";
import { type Sight, type Waiting, type WaitingDisplay, waitingText } from "./waiting-text.ts";

/** No more than one line in this time, whatever happens. */
const lineMsMin = 60_000;
/** One line at least in this time: many CI systems end a build that says nothing. */
const lineMsMax = 5 * 60_000;

/** For build logs: a line when something has changed. */
export class WaitingLog implements WaitingDisplay {
  readonly #write: (text: string) => void;
  #sight: Sight | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #lastNews = "";
  #troubled = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(request: Waiting): void {
    this.#sight = { request, seenAtMs: performance.now() };
    if (this.#troubled) this.#write("berth: The server answers again\n");
    this.#troubled = false;
    this.#plan();
  }

  /** The first of a row at once: it may explain why a build hangs. */
  trouble({ message }: Error): void {
    if (!this.#troubled) this.#write(`berth: ${plain(message)}; trying again\n`);
    this.#troubled = true;
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #plan(): void {
    clearTimeout(this.#timer);
    const dueMs = this.#newsOf() === this.#lastNews ? lineMsMax : lineMsMin;
    const waitMs = this.#lastAtMs + dueMs - performance.now();
    if (waitMs <= 0) this.#print();
    else this.#timer = setTimeout(() => this.#print(), waitMs);
  }

  #print(): void {
    if (this.#sight === undefined) return;
    this.#lastAtMs = performance.now();
    this.#lastNews = this.#newsOf();
    this.#write(`${waitingText(this.#sight, this.#lastAtMs)}\n`);
    this.#plan();
  }

  /** The estimate changes with every look; only where one stands is news. */
  #newsOf(): string {
    if (this.#sight === undefined) return "";
    const { position, reason } = this.#sight.request;
    return `${position} ${reason.message}`;
  }
}
