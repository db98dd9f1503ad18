/**
 * The lines of one queue, sorted by priority, by share, and by their first waiter. It is a treap
 * whose nodes are the lines themselves. Each knows how many waiters its subtree has and which of
 * them came last, so a position costs O(log n) in lines and waiters. Only lines of equal shares
 * that have waiters on both sides of the position are counted one by one: nobody can do that in
 * O(log n), because the order of such waiters is not that of their lines (decision 0031).
 */
import { Arrivals } from "./arrivals.ts";
import { scatter } from "./collections.ts";
import type { FairQueue } from "./fair-queue.ts";
import { type Rank, shareOf } from "./rank.ts";
import type { Space } from "./space.ts";

/**
 * The requests of one space with one priority in one queue, in the order of their arrival. A starved
 * one has a line of its own.
 */
export class Line<Waiter extends Rank = Rank> {
  readonly kind = "line";
  readonly space: Space | null;
  readonly priority: number;
  readonly isStarved: boolean;
  readonly queue: FairQueue<Waiter>;
  readonly waiters = new Arrivals<Waiter>();
  /** The first waiter. */
  head: Waiter;
  /** No waiter came later than this. It may have left. */
  lastOrder: number;
  /** Whether its place is of an earlier share or first waiter. */
  isStale = false;

  /** Its place in the tree. Only the tree writes what follows. */
  share = 0;
  firstOrder = 0;
  readonly weight: number;
  left: Line<Waiter> | null = null;
  right: Line<Waiter> | null = null;
  /** The waiters of its subtree, and the latest arrival of these. */
  total = 0;
  latest = 0;

  constructor(queue: FairQueue<Waiter>, head: Waiter) {
    this.space = head.space;
    this.priority = head.priority;
    this.isStarved = head.isStarved === true;
    this.queue = queue;
    this.head = head;
    this.lastOrder = head.order;
    this.weight = scatter(head.order);
    this.waiters.add(head);
  }
}

type Subtree<Waiter extends Rank> = Line<Waiter> | null;

export class LineTree<Waiter extends Rank> implements Iterable<Line<Waiter>> {
  #root: Subtree<Waiter> = null;

  first(): Line<Waiter> | undefined {
    let line = this.#root;
    if (line === null) return undefined;
    while (line.left !== null) line = line.left;
    return line;
  }

  add(line: Line<Waiter>): void {
    line.share = shareOf(line);
    line.firstOrder = line.head.order;
    this.#root = insert(this.#root, line);
  }

  remove(line: Line<Waiter>): void {
    this.#root = remove(this.#root, line);
    line.left = null;
    line.right = null;
  }

  /** Puts a line into its place after its share or its first waiter has changed. */
  move(line: Line<Waiter>): void {
    this.remove(line);
    this.add(line);
  }

  /** A waiter who is not the first one has joined the line, or left it. */
  count(line: Line<Waiter>, by: 1 | -1): void {
    let node = this.#root;
    while (node !== null) {
      node.total += by;
      if (node.latest < line.lastOrder) node.latest = line.lastOrder;
      if (node === line) return;
      node = compareLines(line, node) < 0 ? node.left : node.right;
    }
  }

  countBefore(rank: Rank): number {
    return countBefore(this.#root, rank, shareOf(rank));
  }

  *[Symbol.iterator](): Generator<Line<Waiter>, void, undefined> {
    const path: Line<Waiter>[] = [];
    let node = this.#root;
    while (node !== null || path.length > 0) {
      while (node !== null) {
        path.push(node);
        node = node.left;
      }
      const top = path.pop();
      if (top === undefined) return;
      yield top;
      node = top.right;
    }
  }
}

/** The waiters of a line that came before. */
export function countEarlier({ waiters, lastOrder }: Line, rank: Rank): number {
  return lastOrder < rank.order ? waiters.size : waiters.countBefore(rank);
}

function countBefore(root: Subtree<Rank>, rank: Rank, share: number): number {
  let count = 0;
  let node = root;
  while (node !== null) {
    const before = rank.priority - node.priority || node.share - share;
    if (before < 0) {
      count += totalOf(node.left) + node.waiters.size;
      node = node.right;
    } else if (before > 0 || node.firstOrder >= rank.order) {
      node = node.left;
    } else {
      // To the left nobody has a lower priority or a higher share.
      const { left } = node;
      if (left !== null && left.latest < rank.order) count += left.total;
      else count += countBefore(left, rank, share);
      count += countEarlier(node, rank);
      node = node.right;
    }
  }
  return count;
}

/** The order of the tree. No two lines have the same first waiter. */
function compareLines(a: Line, b: Line): number {
  return b.priority - a.priority || a.share - b.share || a.firstOrder - b.firstOrder;
}

function insert<W extends Rank>(root: Subtree<W>, line: Line<W>): Line<W> {
  if (root === null) return counted(line);
  if (line.weight > root.weight) {
    split(root, line);
    return counted(line);
  }
  if (compareLines(line, root) < 0) root.left = insert(root.left, line);
  else root.right = insert(root.right, line);
  return counted(root);
}

/** Makes the lines of a subtree that come before a line its left side, and the others its right. */
function split<W extends Rank>(root: Subtree<W>, line: Line<W>): void {
  if (root === null) {
    line.left = null;
    line.right = null;
  } else if (compareLines(root, line) < 0) {
    split(root.right, line);
    root.right = line.left;
    line.left = counted(root);
  } else {
    split(root.left, line);
    root.left = line.right;
    line.right = counted(root);
  }
}

function remove<W extends Rank>(root: Subtree<W>, line: Line<W>): Subtree<W> {
  if (root === null) return null;
  if (root === line) return merge(root.left, root.right);
  if (compareLines(line, root) < 0) root.left = remove(root.left, line);
  else root.right = remove(root.right, line);
  return counted(root);
}

function merge<W extends Rank>(left: Subtree<W>, right: Subtree<W>): Subtree<W> {
  if (left === null) return right;
  if (right === null) return left;
  if (left.weight > right.weight) {
    left.right = merge(left.right, right);
    return counted(left);
  }
  right.left = merge(left, right.left);
  return counted(right);
}

function counted<W extends Rank>(line: Line<W>): Line<W> {
  const { left, right } = line;
  line.total = line.waiters.size;
  line.latest = line.lastOrder;
  if (left !== null) {
    line.total += left.total;
    if (left.latest > line.latest) line.latest = left.latest;
  }
  if (right !== null) {
    line.total += right.total;
    if (right.latest > line.latest) line.latest = right.latest;
  }
  return line;
}

function totalOf(line: Subtree<Rank>): number {
  return line === null ? 0 : line.total;
}
