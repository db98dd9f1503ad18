import { DueHeap, type Timed } from "./collections.ts";
import type { Space } from "./space.ts";
import { type Instant, never } from "./time.ts";

interface Waiting extends Timed {
  readonly space: Space;
}

/** The spaces that wait in one pool, by the time before which they cannot starve there. */
export class StarvingSpaces {
  readonly #heap = new DueHeap<Waiting>();
  readonly #waiting = new Map<Space, Waiting>();

  /** It may starve from then on; if it is here already, from the earlier time on. */
  add(space: Space, at: Instant): void {
    let waiting = this.#waiting.get(space);
    if (waiting === undefined) {
      waiting = { space, dueAt: never, heapIndex: -1 };
      this.#waiting.set(space, waiting);
    }
    if (waiting.heapIndex < 0 || at < waiting.dueAt) this.#heap.set(waiting, at);
  }

  delete(space: Space): void {
    const waiting = this.#waiting.get(space);
    if (waiting === undefined) return;
    this.#waiting.delete(space);
    this.#heap.clear(waiting);
  }

  /** Removes a space that may starve now. */
  takeDue(now: Instant): Space | undefined {
    const first = this.#heap.first();
    if (first === undefined || first.dueAt > now) return undefined;
    this.delete(first.space);
    return first.space;
  }
}
