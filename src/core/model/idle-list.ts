/** A link in an idle list. Only the list writes these. */
export interface Linked<Element> {
  readonly previous: Element | null;
  readonly next: Element | null;
}

type Link<Element> = { -readonly [Key in keyof Linked<Element>]: Linked<Element>[Key] };

/** A list as those see it who may not change it. */
export interface ReadonlyIdleList<Element> extends Iterable<Element> {
  readonly size: number;
  readonly first: Element | null;
}

/**
 * Resources that nobody holds, longest idle first. Links live in the elements: taking one out of
 * the middle is O(1). A `Set` would keep the order too, but reading its first element walks over
 * every hole that earlier removals left at the front, which a queue makes by the thousand.
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
