/** The collections of the state: a sorted tree, a heap of deadlines, a list of idle resources. */
import { type Instant, never } from "./time.ts";

/** Each element has its own number, which keeps the tree shallow. */
export interface Numbered {
  readonly order: number;
}

/** Negative when `a` comes before `b`; never 0 for two elements of one tree. */
type Compare<Key> = (a: Key, b: Key) => number;

/** A tree without the methods that change it. */
export interface ReadonlyTree<Element extends Key, Key> extends Iterable<Element> {
  readonly size: number;
  at(place: number): Element | undefined;
  countBefore(key: Key): number;
}

interface Node<Element> {
  readonly element: Element;
  /** Pseudo-random from the element's number, so that equal histories build equal trees. */
  readonly weight: number;
  left: Node<Element> | null;
  right: Node<Element> | null;
  size: number;
}

/**
 * A sorted list: a treap that counts its subtrees. Adding, removing, finding the n-th element and
 * finding a position each cost O(log n), so that every reply can contain the position in a queue of
 * 50,000.
 */
export class OrderedTree<Element extends Key, Key extends Numbered>
  implements ReadonlyTree<Element, Key>
{
  readonly #compare: Compare<Key>;
  #root: Node<Element> | null = null;

  constructor(compare: Compare<Key>) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#root?.size ?? 0;
  }

  add(element: Element): void {
    const node = { element, weight: scatter(element.order), left: null, right: null, size: 1 };
    this.#root = insert(this.#root, node, this.#compare);
  }

  remove(element: Element): void {
    this.#root = remove(this.#root, element, this.#compare);
  }

  /** The element at a zero-based place. */
  at(place: number): Element | undefined {
    let node = this.#root;
    let rest = place;
    while (node !== null) {
      const before = node.left?.size ?? 0;
      if (rest === before) return node.element;
      if (rest < before) {
        node = node.left;
      } else {
        rest -= before + 1;
        node = node.right;
      }
    }
    return undefined;
  }

  /** The number of elements ahead of the key, which need not be in the tree. */
  countBefore(key: Key): number {
    let node = this.#root;
    let before = 0;
    while (node !== null) {
      if (this.#compare(key, node.element) <= 0) {
        node = node.left;
      } else {
        before += (node.left?.size ?? 0) + 1;
        node = node.right;
      }
    }
    return before;
  }

  *[Symbol.iterator](): Generator<Element, void, undefined> {
    const path: Node<Element>[] = [];
    let node = this.#root;
    while (node !== null || path.length > 0) {
      while (node !== null) {
        path.push(node);
        node = node.left;
      }
      const top = path.pop();
      if (top === undefined) return;
      yield top.element;
      node = top.right;
    }
  }
}

function insert<E extends K, K>(root: Node<E> | null, node: Node<E>, compare: Compare<K>): Node<E> {
  if (root === null) return node;
  if (node.weight > root.weight) {
    [node.left, node.right] = split(root, node.element, compare);
    return counted(node);
  }
  if (compare(node.element, root.element) < 0) root.left = insert(root.left, node, compare);
  else root.right = insert(root.right, node, compare);
  return counted(root);
}

function remove<E extends K, K>(
  root: Node<E> | null,
  element: E,
  compare: Compare<K>,
): Node<E> | null {
  if (root === null) return null;
  if (root.element === element) return merge(root.left, root.right);
  if (compare(element, root.element) < 0) root.left = remove(root.left, element, compare);
  else root.right = remove(root.right, element, compare);
  return counted(root);
}

function split<E extends K, K>(
  root: Node<E> | null,
  at: K,
  compare: Compare<K>,
): [Node<E> | null, Node<E> | null] {
  if (root === null) return [null, null];
  if (compare(root.element, at) < 0) {
    const [left, right] = split(root.right, at, compare);
    root.right = left;
    return [counted(root), right];
  }
  const [left, right] = split(root.left, at, compare);
  root.left = right;
  return [left, counted(root)];
}

function merge<E>(left: Node<E> | null, right: Node<E> | null): Node<E> | null {
  if (left === null) return right;
  if (right === null) return left;
  if (left.weight > right.weight) {
    left.right = merge(left.right, right);
    return counted(left);
  }
  right.left = merge(left, right.left);
  return counted(right);
}

function counted<E>(node: Node<E>): Node<E> {
  node.size = 1 + (node.left?.size ?? 0) + (node.right?.size ?? 0);
  return node;
}

/** Mixes a counter's bits (the finaliser of MurmurHash3), which keeps the tree shallow. */
export function scatter(order: number): number {
  let bits = order | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** An element with a deadline. It stores its index in the heap, so the heap can move it. */
export interface Timed {
  readonly dueAt: Instant;
  /** -1 without a deadline. Only the heap writes these two fields. */
  readonly heapIndex: number;
}

type Placed = { -readonly [Key in keyof Timed]: Timed[Key] };

/** A heap without the methods that change it. */
export interface ReadonlyDueHeap<Element extends Timed> extends Iterable<Element> {
  readonly size: number;
  first(): Element | undefined;
}

/**
 * All deadlines in one binary heap. Reading the earliest costs O(1); setting, moving and clearing
 * cost O(log n). Elements store their own index, because a map from element to index would cost
 * more than the heap.
 */
export class DueHeap<Element extends Timed> implements ReadonlyDueHeap<Element> {
  readonly #elements: Element[] = [];

  get size(): number {
    return this.#elements.length;
  }

  first(): Element | undefined {
    return this.#elements[0];
  }

  /** Iterates in no defined order. */
  [Symbol.iterator](): Iterator<Element> {
    return this.#elements[Symbol.iterator]();
  }

  /** Inserts the element, or moves it if it is there. */
  set(element: Element, dueAt: Instant): void {
    const before = element.dueAt;
    (element as Placed).dueAt = dueAt;
    if (element.heapIndex < 0) {
      this.#elements.push(element);
      this.#rise(element, this.#elements.length - 1);
    } else if (dueAt < before) {
      this.#rise(element, element.heapIndex);
    } else {
      this.#sink(element, element.heapIndex);
    }
  }

  clear(element: Element): void {
    const index = element.heapIndex;
    if (index < 0) return;
    const { dueAt } = element;
    const cleared = element as Placed;
    cleared.heapIndex = -1;
    cleared.dueAt = never;
    const last = this.#elements.pop();
    if (last === undefined || last === element) return;
    if (last.dueAt < dueAt) this.#rise(last, index);
    else this.#sink(last, index);
  }

  #rise(element: Element, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#elements[parentIndex] as Element;
      if (parent.dueAt <= element.dueAt) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(element, index);
  }

  #sink(element: Element, from: number): void {
    const size = this.#elements.length;
    let index = from;
    for (let childIndex = 2 * index + 1; childIndex < size; childIndex = 2 * index + 1) {
      let child = this.#elements[childIndex] as Element;
      const right = this.#elements[childIndex + 1];
      if (right !== undefined && right.dueAt < child.dueAt) {
        child = right;
        childIndex += 1;
      }
      if (element.dueAt <= child.dueAt) break;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(element, index);
  }

  #put(element: Element, index: number): void {
    this.#elements[index] = element;
    (element as Placed).heapIndex = index;
  }
}

/** The links of an idle list. Only the list writes these. */
export interface Linked<Element> {
  readonly previous: Element | null;
  readonly next: Element | null;
}

type Link<Element> = { -readonly [Key in keyof Linked<Element>]: Linked<Element>[Key] };

/** A list without the methods that change it. */
export interface ReadonlyIdleList<Element> extends Iterable<Element> {
  readonly size: number;
  readonly first: Element | null;
}

/**
 * Idle resources, longest idle first. Elements store the links, so removing from the middle costs
 * O(1). A `Set` keeps the order too, but reading its first element walks over the holes of earlier
 * removals, of which a queue makes thousands.
 */
export class IdleList<Element extends Linked<Element>> implements ReadonlyIdleList<Element> {
  #first: Element | null = null;
  #last: Element | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Element | null {
    return this.#first;
  }

  push(element: Element): void {
    const link = linkOf(element);
    link.previous = this.#last;
    link.next = null;
    if (this.#last === null) this.#first = element;
    else linkOf(this.#last).next = element;
    this.#last = element;
    this.#size += 1;
  }

  remove(element: Element): void {
    const link = linkOf(element);
    if (link.previous === null) this.#first = link.next;
    else linkOf(link.previous).next = link.next;
    if (link.next === null) this.#last = link.previous;
    else linkOf(link.next).previous = link.previous;
    link.previous = null;
    link.next = null;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Generator<Element, void, undefined> {
    for (let element = this.#first; element !== null; element = element.next) yield element;
  }
}

function linkOf<Element extends Linked<Element>>(element: Element): Link<Element> {
  return element;
}
