/**
 * Virtual time. Every action is an entry with a time; entries with the same time run in the order
 * in which they were made. Between two entries all promises settle, so code with `await` is
 * deterministic here too.
 */
export class World {
  #nowMs = 0;
  #count = 0;
  #entries: Entry[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Runs the entry at this time. Returns a function that cancels it. */
  at(timeMs: number, run: () => void): () => void {
    const entry: Entry = { timeMs: Math.max(timeMs, this.#nowMs), order: this.#count++, run };
    this.#insert(entry);
    return () => {
      entry.run = nothing;
    };
  }

  after(delayMs: number, run: () => void): () => void {
    return this.at(this.#nowMs + delayMs, run);
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Runs the next entry. Returns false if there is none up to and including `endMs`. */
  async step(endMs: number): Promise<boolean> {
    const entry = this.#entries[0];
    if (entry === undefined || entry.timeMs > endMs) return false;
    this.#removeFirst();
    if (entry.run === nothing) return true;
    this.#nowMs = entry.timeMs;
    entry.run();
    await settled();
    return true;
  }

  #insert(entry: Entry): void {
    const entries = this.#entries;
    let index = entries.length;
    entries.push(entry);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = entries[parentIndex] as Entry;
      if (!before(entry, parent)) break;
      entries[index] = parent;
      index = parentIndex;
    }
    entries[index] = entry;
  }

  #removeFirst(): void {
    const entries = this.#entries;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return;
    let index = 0;
    for (let child = 1; child < entries.length; child = 2 * index + 1) {
      const right = entries[child + 1];
      if (right !== undefined && before(right, entries[child] as Entry)) child += 1;
      if (!before(entries[child] as Entry, last)) break;
      entries[index] = entries[child] as Entry;
      index = child;
    }
    entries[index] = last;
  }
}

interface Entry {
  readonly timeMs: number;
  readonly order: number;
  run: () => void;
}

const nothing = (): void => {};

function before(a: Entry, b: Entry): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order);
}

/**
 * Waits for one turn of the real event loop. After it, all promises that can settle have settled.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
