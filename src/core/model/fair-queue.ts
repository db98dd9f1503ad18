/**
 * The queue of one bucket. Each space has a line of its own for each priority, in which requests
 * stand by arrival. The next request is the first of a line: of those with the highest priority,
 * the one whose space has the lowest share. Shares change with every grant and release, so lines
 * are sorted, and never the requests of different spaces. With one space and one priority it is one
 * line: first come, first served.
 *
 * A line whose share or first waiter has changed is put into its place when somebody reads the
 * queue, so a grant, which changes both, moves it once.
 */
import type { ReadonlyTree } from "./collections.ts";
import { countEarlier, Line, LineTree } from "./line-tree.ts";
import { MergedWalk, SpaceWalk, type Walk } from "./queue-walk.ts";
import { type Rank, shareOf } from "./rank.ts";
import type { Space } from "./space.ts";
import type { Pool } from "./state.ts";

/** A queue without the methods that change it. */
export interface ReadonlyFairQueue<Waiter extends Rank> extends ReadonlyTree<Waiter, Rank> {
  /** Whether requests of several spaces wait, so that a grant changes the order. */
  readonly isShared: boolean;
  /** Of the waiters ahead, those in lines whose first waiter counts. It looks at every line. */
  countBeforeIn(rank: Rank, counts: (head: Waiter) => boolean): number;
  /** The number of waiters of the same space ahead of this rank. */
  countBeforeInSpace(rank: Rank): number;
  /** The spaces that wait. */
  spaces(): Iterable<Space | null>;
  /** The lines of one space, in order. */
  linesOf(space: Space): readonly Line<Waiter>[];
  walk(): Walk<Waiter>;
}

export class FairQueue<Waiter extends Rank> implements ReadonlyFairQueue<Waiter> {
  /** The lines of each space, the highest priority first. */
  readonly #spaces = new Map<Space | null, Line<Waiter>[]>();
  readonly #sorted = new LineTree<Waiter>();
  readonly #stale: Line<Waiter>[] = [];
  /** The pool whose resources the waiters need. */
  readonly pool: Pool | null;
  #size = 0;

  constructor(pool: Pool | null = null) {
    this.pool = pool;
  }

  get size(): number {
    return this.#size;
  }

  get isShared(): boolean {
    return this.#spaces.size > 1;
  }

  add(waiter: Waiter): void {
    this.#size += 1;
    const line = this.#lineOf(waiter);
    if (line === undefined) return this.#addLine(new Line(this, waiter));
    line.waiters.add(waiter);
    if (waiter.order > line.lastOrder) line.lastOrder = waiter.order;
    if (waiter.order > line.head.order) return this.#count(line, 1);
    line.head = waiter;
    this.sortAgain(line);
  }

  remove(waiter: Waiter): void {
    const line = this.#lineOf(waiter);
    if (line === undefined || !line.waiters.remove(waiter)) return;
    this.#size -= 1;
    if (line.head !== waiter) return this.#count(line, -1);
    const next = line.waiters.at(0);
    if (next === undefined) return this.#removeLine(line);
    line.head = next;
    this.sortAgain(line);
  }

  #lineOf({ space, priority, isStarved = false }: Rank): Line<Waiter> | undefined {
    const lines = this.#spaces.get(space);
    if (lines === undefined) return undefined;
    // Most spaces have one priority, and ageing has few steps.
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index];
      if (line?.priority === priority && line.isStarved === isStarved) return line;
    }
    return undefined;
  }

  #addLine(line: Line<Waiter>): void {
    const { space, priority, isStarved } = line;
    const lines = this.#spaces.get(space);
    if (lines === undefined) {
      this.#spaces.set(space, [line]);
    } else {
      const index = lines.findIndex((other) => {
        return other.priority < priority || (isStarved && other.priority === priority);
      });
      lines.splice(index < 0 ? lines.length : index, 0, line);
    }
    linesOf(space)?.add(line);
    this.#sorted.add(line);
  }

  #removeLine(line: Line<Waiter>): void {
    const { space } = line;
    const lines = this.#spaces.get(space) ?? [];
    lines.splice(lines.indexOf(line), 1);
    if (lines.length === 0) this.#spaces.delete(space);
    linesOf(space)?.delete(line);
    this.#sorted.remove(line);
  }

  #count(line: Line<Waiter>, by: 1 | -1): void {
    if (!line.isStale) this.#sorted.count(line, by);
  }

  /** The share of the line's space has changed, or its first waiter. */
  sortAgain(line: Line): void {
    if (line.isStale) return;
    line.isStale = true;
    this.#stale.push(line as Line<Waiter>);
  }

  /** All lines, each in its place. */
  get #lines(): LineTree<Waiter> {
    for (let line = this.#stale.pop(); line !== undefined; line = this.#stale.pop()) {
      line.isStale = false;
      if (line.waiters.size > 0) this.#sorted.move(line);
    }
    return this.#sorted;
  }

  at(place: number): Waiter | undefined {
    if (place === 0) return this.#lines.first()?.head;
    const walk = this.walk();
    for (let skipped = 0; skipped < place; skipped++) walk.next();
    return walk.next();
  }

  /** The number of waiters ahead of this rank as the shares are now. */
  countBefore(rank: Rank): number {
    return this.#lines.countBefore(rank);
  }

  countBeforeIn(rank: Rank, counts: (head: Waiter) => boolean): number {
    let count = 0;
    for (const lines of this.#spaces.values()) {
      for (const line of lines) if (counts(line.head)) count += countAhead(line, rank);
    }
    return count;
  }

  countBeforeInSpace(rank: Rank): number {
    let count = 0;
    for (const line of this.#spaces.get(rank.space) ?? []) count += countAhead(line, rank);
    return count;
  }

  spaces(): Iterable<Space | null> {
    return this.#spaces.keys();
  }

  linesOf(space: Space): readonly Line<Waiter>[] {
    return this.#spaces.get(space) ?? [];
  }

  *[Symbol.iterator](): Generator<Waiter, void, undefined> {
    const walk = this.walk();
    for (let waiter = walk.next(); waiter !== undefined; waiter = walk.next()) yield waiter;
  }

  /** Visits the waiters in order. Start again after a change, except where `Walk` says otherwise. */
  walk(): Walk<Waiter> {
    if (this.#spaces.size > 1) return new MergedWalk(this.#lines);
    return new SpaceWalk(this.#spaces.values().next().value ?? []);
  }
}

function linesOf(space: Space | null): Set<Line> | undefined {
  return space === null ? undefined : (space.lines as Set<Line>);
}

function countAhead(line: Line, rank: Rank): number {
  const before = rank.priority - line.priority || shareOf(line) - shareOf(rank);
  if (before !== 0) return before < 0 ? line.waiters.size : 0;
  return countEarlier(line, rank);
}
