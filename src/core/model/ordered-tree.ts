/** What every element must have: a number of its own, which keeps the tree shallow. */
export interface Numbered {
  readonly order: number;
}

/** Negative when `a` comes before `b`; never 0 for two elements of one tree. */
type Compare<Key> = (a: Key, b: Key) => number;

/** A tree as those see it who may not change it. */
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
 * A sorted list as a treap that counts its subtrees: adding, removing from anywhere, "which is
 * n-th" and "what place is mine" each cost O(log n), so that a position in a queue of 50,000 can be
 * part of every answer.
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

  /** How many come before it, whether or not it is in the tree itself. */
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
function scatter(order: number): number {
  let bits = order | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
