import type { LeaseEnd, RequestEnd } from "./event.ts";
import type { RequestId } from "./ids.ts";
import type { Instant } from "./time.ts";

/** How a request or lease ended. */
export interface Ended {
  readonly id: RequestId;
  readonly key: string | undefined;
  readonly holder: string;
  readonly how: RequestEnd | LeaseEnd;
  readonly at: Instant;
}

/** A generation lasts for so many ends, or so long. What ended is remembered for one to two of them. */
export const generationSizeMax = 20_000;
export const generationMs = 24 * 3_600_000;

/**
 * Who ended lately and how, so that a retry with an old id is told the truth instead of being lent to
 * a second time. Two generations of which the older is dropped whole: forgetting one by one costs
 * three times as much, because a map that is added to and deleted from is copied again and again.
 */
export class EndedMemory {
  #recent = new Map<RequestId, Ended>();
  #older = new Map<RequestId, Ended>();
  #since = 0;

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  get(id: RequestId): Ended | undefined {
    return this.#recent.get(id) ?? this.#older.get(id);
  }

  has(id: RequestId): boolean {
    return this.#recent.has(id) || this.#older.has(id);
  }

  /** Returns those that are forgotten for it, mostly none. */
  add(end: Ended): Iterable<Ended> {
    if (this.#recent.size === 0) this.#since = end.at;
    this.#recent.set(end.id, end);
    const over = this.#recent.size >= generationSizeMax || end.at - this.#since >= generationMs;
    if (!over) return nobody;
    const forgotten = this.#older;
    this.#older = this.#recent;
    this.#recent = new Map();
    return forgotten.values();
  }

  /** Both generations, oldest first within each. */
  freeze(): FrozenEnds {
    return { older: [...this.#older.values()], recent: [...this.#recent.values()] };
  }

  static thaw({ older, recent }: FrozenEnds): EndedMemory {
    const memory = new EndedMemory();
    memory.#older = new Map(older.map((end) => [end.id, end]));
    memory.#recent = new Map(recent.map((end) => [end.id, end]));
    memory.#since = recent[0]?.at ?? 0;
    return memory;
  }
}

export interface FrozenEnds {
  readonly older: readonly Ended[];
  readonly recent: readonly Ended[];
}

const nobody: readonly Ended[] = [];
