/** Walks along a queue: over the lines of one space, or over those of several, merged. */
import type { Line } from "./line-tree.ts";
import { compareRank, type Rank } from "./rank.ts";
import type { Space } from "./space.ts";

export interface Walk<Waiter> {
  next(): Waiter | undefined;
  /** Leaves out the other waiters of the last one's space. */
  skipSpace(): void;
  /** The last waiter has been removed. False: the order may have changed, so start again. */
  goOn(): boolean;
}

/** A walk along the lines of the only space. */
export class SpaceWalk<Waiter extends Rank> implements Walk<Waiter> {
  readonly #lines: readonly Line<Waiter>[];
  /** A grant moves starved waiters to other lines. */
  readonly #keepsOrder: boolean;
  #index = 0;
  #place = 0;

  constructor(lines: readonly Line<Waiter>[]) {
    this.#lines = lines;
    this.#keepsOrder = !lines.some(({ isStarved }) => isStarved);
  }

  next(): Waiter | undefined {
    for (let line = this.#lines[this.#index]; line !== undefined; ) {
      const waiter = line.waiters.at(this.#place++);
      if (waiter !== undefined) return waiter;
      this.#index += 1;
      this.#place = 0;
      line = this.#lines[this.#index];
    }
    return undefined;
  }

  skipSpace(): void {
    this.#index = this.#lines.length;
  }

  /** If it was the last one of its line, the queue has removed the line too. */
  goOn(): boolean {
    this.#place -= 1;
    return this.#keepsOrder;
  }
}

/** A line that the walk has reached, and its next waiter. */
class Cursor<Waiter extends Rank> {
  readonly line: Line<Waiter>;
  current: Waiter;
  #rest: Iterator<Waiter> | null = null;

  constructor(line: Line<Waiter>) {
    this.line = line;
    this.current = line.head;
  }

  /** False at the end of the line. */
  advance(): boolean {
    if (this.#rest === null) {
      this.#rest = this.line.waiters[Symbol.iterator]();
      this.#rest.next();
    }
    const { value, done } = this.#rest.next();
    if (!done) this.current = value;
    return !done;
  }
}

/** The lines of a queue, in order. */
interface SortedLines<Waiter extends Rank> extends Iterable<Line<Waiter>> {
  first(): Line<Waiter> | undefined;
}

/** Merges several lines, and opens only those that it reaches. Most walks end at the first. */
export class MergedWalk<Waiter extends Rank> implements Walk<Waiter> {
  readonly #lines: SortedLines<Waiter>;
  /** The lines behind the first one; null until the second step. */
  #others: Iterator<Line<Waiter>> | null = null;
  /** The first line that the walk has not reached. */
  #next: Line<Waiter> | undefined;
  /** Sorted, the first one last. */
  readonly #reached: Cursor<Waiter>[] = [];
  /** Of the last waiter. */
  #last: Cursor<Waiter> | null = null;
  #skipped: Set<Space | null> | undefined;

  constructor(lines: SortedLines<Waiter>) {
    this.#lines = lines;
    this.#next = lines.first();
  }

  next(): Waiter | undefined {
    const last = this.#last;
    if (last !== null) {
      if (last.line === this.#next) this.#next = this.#following();
      if (!this.#isSkipped(last.line) && last.advance()) this.#keep(last);
    }
    while (this.#next !== undefined && this.#isSkipped(this.#next)) this.#next = this.#following();
    const first = this.#reached.at(-1);
    const line = this.#next;
    if (line !== undefined && (first === undefined || compareRank(line.head, first.current) < 0)) {
      this.#last = new Cursor(line);
      return line.head;
    }
    this.#reached.pop();
    this.#last = first ?? null;
    return first?.current;
  }

  #following(): Line<Waiter> | undefined {
    if (this.#others === null) {
      this.#others = this.#lines[Symbol.iterator]();
      this.#others.next();
    }
    const { value, done } = this.#others.next();
    return done ? undefined : value;
  }

  #isSkipped({ space }: Line<Waiter>): boolean {
    return this.#skipped?.has(space) === true;
  }

  #keep(cursor: Cursor<Waiter>): void {
    const reached = this.#reached;
    let [low, high] = [0, reached.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = reached[middle] as Cursor<Waiter>;
      if (compareRank(other.current, cursor.current) < 0) high = middle;
      else low = middle + 1;
    }
    reached.splice(low, 0, cursor);
  }

  skipSpace(): void {
    if (this.#last === null) return;
    this.#skipped ??= new Set();
    this.#skipped.add(this.#last.line.space);
  }

  goOn(): boolean {
    return false;
  }
}
