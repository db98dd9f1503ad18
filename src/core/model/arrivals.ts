/**
 * The waiters of one line, by arrival. Nearly all join at the end and leave at the front. They
 * stand in chunks, and the chunks in a treap that counts its subtrees: every step costs O(log n),
 * and a line of a few waiters is one array. A tree with a node for each waiter took three times as
 * long with a thousand lines, because most of its nodes were not in the processor's cache.
 */
import { type Numbered, type ReadonlyTree, scatter } from "./collections.ts";

const chunkMax = 64;

interface Chunk<Waiter> {
  /** Sorted, never empty. */
  readonly waiters: Waiter[];
  readonly weight: number;
  left: Chunk<Waiter> | null;
  right: Chunk<Waiter> | null;
  /** The waiters of its subtree. */
  size: number;
}

export class Arrivals<Waiter extends Numbered> implements ReadonlyTree<Waiter, Numbered> {
  #root: Chunk<Waiter> | null = null;

  get size(): number {
    return this.#root === null ? 0 : this.#root.size;
  }

  add(waiter: Waiter): void {
    const { order } = waiter;
    let chunk = this.#root;
    if (chunk === null) {
      this.#root = newChunk([waiter]);
      return;
    }
    for (let next: Chunk<Waiter> | null = chunk; next !== null; ) {
      chunk = next;
      chunk.size += 1;
      next = order < firstOf(chunk) ? chunk.left : order > lastOf(chunk) ? chunk.right : null;
    }
    const { waiters } = chunk;
    if (order > lastOf(chunk)) waiters.push(waiter);
    else waiters.splice(countEarlier(waiters, order), 0, waiter);
    if (waiters.length > chunkMax) this.#split(chunk);
  }

  #split(chunk: Chunk<Waiter>): void {
    // Nearly all waiters join at the end. There, a chunk that has been filled stays full.
    const isLast = this.at(this.size - 1) === chunk.waiters.at(-1);
    const rest = newChunk(chunk.waiters.splice(isLast ? chunkMax : chunkMax >> 1));
    // It comes next in the order, so the chunk is on its path and is counted again.
    this.#root = insert(this.#root, rest);
  }

  /** Counts waiters who have joined the chunk or left it. */
  #grow(chunk: Chunk<Waiter>, by: number): void {
    const order = firstOf(chunk);
    for (let node = this.#root; node !== null; ) {
      node.size += by;
      if (node === chunk) return;
      node = order < firstOf(node) ? node.left : node.right;
    }
  }

  /** Returns false if the waiter is not here. */
  remove(waiter: Waiter): boolean {
    const chunk = this.#chunkAt(waiter.order);
    if (chunk === null) return false;
    const { waiters } = chunk;
    const index = waiters[0] === waiter ? 0 : countEarlier(waiters, waiter.order);
    if (waiters[index] !== waiter) return false;
    if (waiters.length === 1) {
      this.#root = without(this.#root, chunk);
      return true;
    }
    this.#grow(chunk, -1);
    if (index === 0) waiters.shift();
    else waiters.splice(index, 1);
    return true;
  }

  #chunkAt(order: number): Chunk<Waiter> | null {
    let chunk = this.#root;
    while (chunk !== null) {
      const first = firstOf(chunk);
      if (order === first) return chunk;
      if (order < first) chunk = chunk.left;
      else if (order > lastOf(chunk)) chunk = chunk.right;
      else return chunk;
    }
    return null;
  }

  /** The waiter at a zero-based place. */
  at(place: number): Waiter | undefined {
    let chunk = this.#root;
    let rest = place;
    while (chunk !== null) {
      const before = chunk.left?.size ?? 0;
      if (rest < before) {
        chunk = chunk.left;
        continue;
      }
      rest -= before;
      if (rest < chunk.waiters.length) return chunk.waiters[rest];
      rest -= chunk.waiters.length;
      chunk = chunk.right;
    }
    return undefined;
  }

  countBefore({ order }: Numbered): number {
    let chunk = this.#root;
    let count = 0;
    while (chunk !== null) {
      const { waiters, left } = chunk;
      const index = countEarlier(waiters, order);
      if (index > 0) count += index + (left?.size ?? 0);
      chunk = index === 0 ? left : index === waiters.length ? chunk.right : null;
    }
    return count;
  }

  *[Symbol.iterator](): Generator<Waiter, void, undefined> {
    const path: Chunk<Waiter>[] = [];
    let chunk = this.#root;
    while (chunk !== null || path.length > 0) {
      while (chunk !== null) {
        path.push(chunk);
        chunk = chunk.left;
      }
      const top = path.pop();
      if (top === undefined) return;
      yield* top.waiters;
      chunk = top.right;
    }
  }
}

function newChunk<W extends Numbered>(waiters: W[]): Chunk<W> {
  const weight = scatter(waiters[0]?.order ?? 0);
  return { waiters, weight, left: null, right: null, size: waiters.length };
}

function firstOf({ waiters }: Chunk<Numbered>): number {
  return (waiters[0] as Numbered).order;
}

function lastOf({ waiters }: Chunk<Numbered>): number {
  return (waiters[waiters.length - 1] as Numbered).order;
}

/** The number of waiters in a chunk that came earlier. */
function countEarlier(waiters: readonly Numbered[], order: number): number {
  let [low, high] = [0, waiters.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((waiters[middle] as Numbered).order < order) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insert<W extends Numbered>(root: Chunk<W> | null, chunk: Chunk<W>): Chunk<W> {
  if (root === null) return chunk;
  if (chunk.weight > root.weight) {
    split(root, chunk);
    return counted(chunk);
  }
  if (firstOf(chunk) < firstOf(root)) root.left = insert(root.left, chunk);
  else root.right = insert(root.right, chunk);
  return counted(root);
}

/** Makes the chunks of a subtree that come before a chunk its left side, and the others its right. */
function split<W extends Numbered>(root: Chunk<W> | null, chunk: Chunk<W>): void {
  if (root === null) {
    chunk.left = null;
    chunk.right = null;
  } else if (firstOf(root) < firstOf(chunk)) {
    split(root.right, chunk);
    root.right = chunk.left;
    chunk.left = counted(root);
  } else {
    split(root.left, chunk);
    root.left = chunk.right;
    chunk.right = counted(root);
  }
}

function without<W extends Numbered>(root: Chunk<W> | null, chunk: Chunk<W>): Chunk<W> | null {
  if (root === null) return null;
  if (root === chunk) return merge(root.left, root.right);
  if (firstOf(chunk) < firstOf(root)) root.left = without(root.left, chunk);
  else root.right = without(root.right, chunk);
  return counted(root);
}

function merge<W extends Numbered>(left: Chunk<W> | null, right: Chunk<W> | null): Chunk<W> | null {
  if (left === null) return right;
  if (right === null) return left;
  if (left.weight > right.weight) {
    left.right = merge(left.right, right);
    return counted(left);
  }
  right.left = merge(left, right.left);
  return counted(right);
}

function counted<W>(chunk: Chunk<W>): Chunk<W> {
  chunk.size = chunk.waiters.length + (chunk.left?.size ?? 0) + (chunk.right?.size ?? 0);
  return chunk;
}
