import type { LeaseEnd, RequestEnd } from "./event.ts";
import type { RequestId, SpaceName } from "./ids.ts";
import type { Instant } from "./time.ts";

/** How a request or lease ended. */
export interface Ended {
  readonly id: RequestId;
  readonly key: string | undefined;
  readonly holder: string;
  readonly space?: SpaceName;
  readonly how: RequestEnd | LeaseEnd;
  readonly at: Instant;
}

/** When the recent generation replaces the older one, which is then dropped. */
export interface GenerationLimits {
  /** Replaced from this size on, if it is also at least this old. */
  readonly sizeMin: number;
  readonly ageMsMin: number;
  /** Replaced at this size, at any age. */
  readonly sizeMax: number;
  /** Replaced at this age, at any size. */
  readonly ageMsMax: number;
}

const dayMs = 24 * 3_600_000;

/** For requests with a key: a late retry must not get a second lease. */
export const keyedLimits: GenerationLimits = {
  sizeMin: 20_000,
  ageMsMin: 10 * 60_000,
  sizeMax: 200_000,
  ageMsMax: dayMs,
};

/** For requests without a key: remembered only to answer a second release. */
export const keylessLimits: GenerationLimits = {
  sizeMin: 2_000,
  ageMsMin: 0,
  sizeMax: 2_000,
  ageMsMax: dayMs,
};

/**
 * Two generations. The older one is dropped as a whole: deleting single entries costs three times
 * as much, because JavaScript copies a map that grows and shrinks again and again.
 */
class Generations {
  readonly #limits: GenerationLimits;
  #recent = new Map<RequestId, Ended>();
  #older = new Map<RequestId, Ended>();
  #since = 0;

  constructor(limits: GenerationLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  get(id: RequestId): Ended | undefined {
    return this.#recent.get(id) ?? this.#older.get(id);
  }

  add(end: Ended): Iterable<Ended> {
    if (this.#recent.size === 0) this.#since = end.at;
    this.#recent.set(end.id, end);
    if (!this.#isOver(end.at - this.#since)) return nobody;
    const forgotten = this.#older;
    this.#older = this.#recent;
    this.#recent = new Map();
    return forgotten.values();
  }

  #isOver(ageMs: number): boolean {
    const { sizeMin, ageMsMin, sizeMax, ageMsMax } = this.#limits;
    const { size } = this.#recent;
    return (size >= sizeMin && ageMs >= ageMsMin) || size >= sizeMax || ageMs >= ageMsMax;
  }

  freeze(): FrozenGenerations {
    return { older: [...this.#older.values()], recent: [...this.#recent.values()] };
  }

  thaw({ older, recent }: FrozenGenerations): void {
    this.#older = new Map(older.map((end) => [end.id, end]));
    this.#recent = new Map(recent.map((end) => [end.id, end]));
    this.#since = recent[0]?.at ?? 0;
  }
}

export interface FrozenGenerations {
  readonly older: readonly Ended[];
  readonly recent: readonly Ended[];
}

export interface FrozenEnds {
  readonly keyed: FrozenGenerations;
  readonly keyless: FrozenGenerations;
}

/**
 * Remembers how recent requests and leases ended, so that a retry with an old id gets the right
 * reply and no second lease.
 */
export class EndedMemory {
  readonly #keyed = new Generations(keyedLimits);
  readonly #keyless = new Generations(keylessLimits);

  get size(): number {
    return this.#keyed.size + this.#keyless.size;
  }

  get(id: RequestId): Ended | undefined {
    return this.#keyed.get(id) ?? this.#keyless.get(id);
  }

  has(id: RequestId): boolean {
    return this.get(id) !== undefined;
  }

  /** Returns the entries that this call dropped, usually none. */
  add(end: Ended): Iterable<Ended> {
    return (end.key === undefined ? this.#keyless : this.#keyed).add(end);
  }

  freeze(): FrozenEnds {
    return { keyed: this.#keyed.freeze(), keyless: this.#keyless.freeze() };
  }

  static thaw({ keyed, keyless }: FrozenEnds): EndedMemory {
    const memory = new EndedMemory();
    memory.#keyed.thaw(keyed);
    memory.#keyless.thaw(keyless);
    return memory;
  }
}

const nobody: readonly Ended[] = [];
