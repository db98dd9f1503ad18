import type { Command } from "../../core/model/command.ts";
import { type Instant, never } from "../../core/model/time.ts";

interface Planned {
  readonly at: Instant;
  readonly order: number;
  readonly command: Command;
}

/**
 * Commands by their time. Commands of the same instant are in the order in which they were added.
 */
export class PlannedCommands {
  /** A binary heap. */
  readonly #heap: Planned[] = [];
  #order = 0;

  /** `never` if there are no commands. */
  get nextAt(): Instant {
    return this.#heap[0]?.at ?? never;
  }

  add(at: Instant, command: Command): void {
    const planned = { at, order: this.#order++, command };
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || isBefore(parent, planned)) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = planned;
  }

  /** Removes and returns the next command. Throws if there is none. */
  take(): Command {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first === undefined || last === undefined)
      throw new Error("Cannot take: nothing is planned");
    if (first !== last) this.#sink(last);
    return first.command;
  }

  /** Starts at the root, which is free. */
  #sink(planned: Planned): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = heap[childIndex];
      const right = heap[childIndex + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        childIndex += 1;
        child = right;
      }
      if (child === undefined || isBefore(planned, child)) break;
      heap[index] = child;
      index = childIndex;
    }
    heap[index] = planned;
  }
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
