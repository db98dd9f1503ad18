import { type Instant, never } from "./time.ts";

/** Something with a deadline. It knows its place in the heap, so it can be moved. */
export interface Timed {
  readonly dueAt: Instant;
  /** -1 while it has no deadline. Only the heap writes these two. */
  readonly heapIndex: number;
}

type Placed = { -readonly [Key in keyof Timed]: Timed[Key] };

/** A heap as those see it who may not change it. */
export interface ReadonlyDueHeap<Element extends Timed> extends Iterable<Element> {
  readonly size: number;
  first(): Element | undefined;
}

/**
 * Deadlines of all kinds in one binary heap: the earliest is at hand in O(1), and setting, moving
 * and clearing one costs O(log n). Places live in the elements themselves; a map from element to
 * place would cost more than the heap does.
 */
export class DueHeap<Element extends Timed> implements ReadonlyDueHeap<Element> {
  readonly #elements: Element[] = [];

  get size(): number {
    return this.#elements.length;
  }

  first(): Element | undefined {
    return this.#elements[0];
  }

  /** In no order that means anything. */
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
