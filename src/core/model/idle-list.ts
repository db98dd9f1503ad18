/** A link in an idle list. Only the list writes these. */
export interface Linked<Element> {
  previous: Element | null;
  next: Element | null;
}

/**
 * Resources that nobody holds, longest idle first. Links live in the elements: taking one out of
 * the middle is O(1). A `Set` would keep the order too, but reading its first element walks over
 * every hole that earlier removals left at the front, which a queue makes by the thousand.
 */
export class IdleList<Element extends Linked<Element>> {
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
    element.previous = this.#last;
    element.next = null;
    if (this.#last === null) this.#first = element;
    else this.#last.next = element;
    this.#last = element;
    this.#size += 1;
  }

  remove(element: Element): void {
    if (element.previous === null) this.#first = element.next;
    else element.previous.next = element.next;
    if (element.next === null) this.#last = element.previous;
    else element.next.previous = element.previous;
    element.previous = null;
    element.next = null;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Generator<Element, void, undefined> {
    for (let element = this.#first; element !== null; element = element.next) yield element;
  }
}
