/**
 * The queue of one bucket. Each space has a line of its own, in which requests stand by priority and
 * arrival. The next request is the first of a line: of those with the highest priority, the one whose
 * space has the lowest share. Shares change with every grant and release, so lines are sorted, and
 * never the requests of different spaces. With one space it is one line: first come, first served.
 */
import { OrderedTree, type ReadonlyTree } from "./collections.ts";
import { compareArrival, compareRank, type Rank } from "./rank.ts";
import type { Space } from "./space.ts";

/** A queue without the methods that change it. */
export interface ReadonlyFairQueue<Waiter extends Rank> extends ReadonlyTree<Waiter, Rank> {
  /** Whether requests of several spaces wait, so that a grant changes the order. */
  readonly isShared: boolean;
  /** The same without the lines of spaces whose first waiter does not count. */
  countBeforeIn(rank: Rank, counts: (head: Waiter) => boolean): number;
  /** The number of waiters of the same space ahead of this rank. */
  countBeforeInSpace(rank: Rank): number;
  walk(): Walk<Waiter>;
}

/** The requests of one space in one queue. */
export class Line<Waiter extends Rank = Rank> {
  readonly kind = "line";
  readonly space: Space | null;
  readonly queue: FairQueue<Waiter>;
  readonly waiters = new OrderedTree<Waiter, Rank>(compareArrival);
  /** The first waiter. */
  head: Waiter;
  /** Only for the shape of the tree of lines. */
  readonly order: number;

  constructor(queue: FairQueue<Waiter>, head: Waiter) {
    this.space = head.space;
    this.queue = queue;
    this.head = head;
    this.order = head.order;
    this.waiters.add(head);
  }
}

function compareLines(a: Line, b: Line): number {
  return compareRank(a.head, b.head);
}

export class FairQueue<Waiter extends Rank> implements ReadonlyFairQueue<Waiter> {
  readonly #lines = new Map<Space | null, Line<Waiter>>();
  /** Sorted by their first waiter; null while there is at most one line. */
  #sorted: OrderedTree<Line<Waiter>, Line> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get isShared(): boolean {
    return this.#sorted !== null;
  }

  add(waiter: Waiter): void {
    this.#size += 1;
    const line = this.#lines.get(waiter.space);
    if (line === undefined) return this.#addLine(new Line(this, waiter));
    const isFirst = compareArrival(waiter, line.head) < 0;
    if (isFirst) this.detach(line);
    line.waiters.add(waiter);
    if (!isFirst) return;
    line.head = waiter;
    this.attach(line);
  }

  remove(waiter: Waiter): void {
    const line = this.#lines.get(waiter.space);
    if (line === undefined) return;
    this.#size -= 1;
    const isFirst = line.head === waiter;
    if (isFirst) this.detach(line);
    line.waiters.remove(waiter);
    if (!isFirst) return;
    const next = line.waiters.at(0);
    if (next === undefined) return this.#removeLine(line);
    line.head = next;
    this.attach(line);
  }

  #addLine(line: Line<Waiter>): void {
    this.#lines.set(line.space, line);
    linesOf(line.space)?.add(line);
    if (this.#lines.size > 2) return this.attach(line);
    if (this.#lines.size < 2) return;
    this.#sorted = new OrderedTree<Line<Waiter>, Line>(compareLines);
    for (const each of this.#lines.values()) this.#sorted.add(each);
  }

  #removeLine(line: Line<Waiter>): void {
    this.#lines.delete(line.space);
    linesOf(line.space)?.delete(line);
    if (this.#lines.size < 2) this.#sorted = null;
  }

  /** Takes a line out of the order, before its first waiter or its space's share changes. */
  detach(line: Line): void {
    this.#sorted?.remove(line as Line<Waiter>);
  }

  attach(line: Line): void {
    this.#sorted?.add(line as Line<Waiter>);
  }

  at(place: number): Waiter | undefined {
    if (this.#sorted === null) return this.#only()?.waiters.at(place);
    if (place === 0) return this.#sorted.at(0)?.head;
    const walk = this.walk();
    for (let skipped = 0; skipped < place; skipped++) walk.next();
    return walk.next();
  }

  /** The number of waiters ahead of this rank as the shares are now. */
  countBefore(rank: Rank): number {
    return this.countBeforeIn(rank, () => true);
  }

  countBeforeIn(rank: Rank, counts: (head: Waiter) => boolean): number {
    let count = 0;
    for (const line of this.#lines.values()) if (counts(line.head)) count += countAhead(line, rank);
    return count;
  }

  countBeforeInSpace(rank: Rank): number {
    return this.#lines.get(rank.space)?.waiters.countBefore(rank) ?? 0;
  }

  *[Symbol.iterator](): Generator<Waiter, void, undefined> {
    const walk = this.walk();
    for (let waiter = walk.next(); waiter !== undefined; waiter = walk.next()) yield waiter;
  }

  /** Visits the waiters in order. Start again after a change, except where `Walk` says otherwise. */
  walk(): Walk<Waiter> {
    const lines = this.#sorted ?? this.#lines.values();
    return this.#sorted === null ? new LineWalk(this.#only()) : new MergedWalk(lines);
  }

  #only(): Line<Waiter> | undefined {
    for (const line of this.#lines.values()) return line;
    return undefined;
  }
}

function linesOf(space: Space | null): Set<Line> | undefined {
  return space === null ? undefined : (space.lines as Set<Line>);
}

function countAhead({ waiters, space }: Line, rank: Rank): number {
  if (space === rank.space) return waiters.countBefore(rank);
  const [own, other] = [shareOf(rank.space), shareOf(space)];
  // Of the same priority all are ahead, or none, or, with the same share, those that came earlier.
  const order =
    other < own ? Number.POSITIVE_INFINITY : other > own ? Number.NEGATIVE_INFINITY : rank.order;
  return waiters.countBefore({ priority: rank.priority, order, space });
}

function shareOf(space: Space | null): number {
  return space?.share ?? 0;
}

export interface Walk<Waiter> {
  next(): Waiter | undefined;
  /** Leaves out the other waiters of the last one's space. */
  skipSpace(): void;
  /** The last waiter has been removed. False: the order may have changed, so start again. */
  goOn(): boolean;
}

/** A walk along the only line. */
class LineWalk<Waiter extends Rank> implements Walk<Waiter> {
  readonly #line: Line<Waiter> | undefined;
  #place = 0;

  constructor(line: Line<Waiter> | undefined) {
    this.#line = line;
  }

  next(): Waiter | undefined {
    return this.#line?.waiters.at(this.#place++);
  }

  skipSpace(): void {
    this.#place = Number.MAX_SAFE_INTEGER;
  }

  goOn(): boolean {
    this.#place -= 1;
    return true;
  }
}

interface Cursor<Waiter> {
  readonly current: Waiter;
  readonly rest: Iterator<Waiter>;
}

/** Merges several lines, and opens only those that it reaches. */
class MergedWalk<Waiter extends Rank> implements Walk<Waiter> {
  readonly #unopened: Iterator<Line<Waiter>>;
  #next: IteratorResult<Line<Waiter>>;
  /** Sorted, the first one last. */
  readonly #opened: Cursor<Waiter>[] = [];
  /** The line of the last waiter. */
  #last: Iterator<Waiter> | null = null;

  constructor(lines: Iterable<Line<Waiter>>) {
    this.#unopened = lines[Symbol.iterator]();
    this.#next = this.#unopened.next();
  }

  next(): Waiter | undefined {
    if (this.#last !== null) this.#open(this.#last);
    const first = this.#opened.at(-1);
    const line = this.#next.done ? undefined : this.#next.value;
    if (line !== undefined && (first === undefined || compareRank(line.head, first.current) < 0)) {
      this.#next = this.#unopened.next();
      const rest = line.waiters[Symbol.iterator]();
      rest.next();
      this.#last = rest;
      return line.head;
    }
    this.#opened.pop();
    this.#last = first?.rest ?? null;
    return first?.current;
  }

  #open(rest: Iterator<Waiter>): void {
    const { value, done } = rest.next();
    if (done) return;
    let index = this.#opened.length;
    while (
      index > 0 &&
      compareRank((this.#opened[index - 1] as Cursor<Waiter>).current, value) < 0
    ) {
      index -= 1;
    }
    this.#opened.splice(index, 0, { current: value, rest });
  }

  skipSpace(): void {
    this.#last = null;
  }

  goOn(): boolean {
    return false;
  }
}
