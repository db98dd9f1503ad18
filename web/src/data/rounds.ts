/**
 * Reads that are shown together.
 *
 * One event changes several blocks of a view: the figures of a pool, its queue, its leases. If each block appeared when its
 * own read is done, they would contradict each other until the slowest is done, which takes a second on a busy server. So
 * those that are due are read at one moment, and shown at one moment.
 */
export interface Reader {
  /** Resolves to a function that shows the result. It never rejects. */
  readonly read: () => Promise<() => void>;
}

/** The shortest pause between two reads. Slow reads are repeated less often. */
const pauseMsMin = 500;
const pausePerDuration = 4;
/** A read that takes longer does not hold up the others: it is shown when it is done. */
const togetherMsMax = 1_000;

export class Rounds {
  readonly #due = new Set<Reader>();
  #isReading = false;
  #nextAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Reads it in the next round. */
  join(reader: Reader): void {
    this.#due.add(reader);
    this.#soon();
  }

  leave(reader: Reader): void {
    this.#due.delete(reader);
  }

  #soon(): void {
    if (this.#isReading || this.#due.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#round(), Math.max(0, this.#nextAt - Date.now()));
  }

  async #round(): Promise<void> {
    const readers = [...this.#due];
    this.#due.clear();
    this.#isReading = true;
    const tookMs = await shownTogether(readers);
    this.#nextAt = Date.now() + pauseAfter(tookMs);
    this.#isReading = false;
    this.#soon();
  }
}

/** One that was read in time is due with the others, in the next round; otherwise the blocks of a view would differ again. */
export function ownPauseAfter(tookMs: number): number {
  return tookMs < togetherMsMax ? 0 : pauseAfter(tookMs);
}

function pauseAfter(tookMs: number): number {
  return Math.max(pauseMsMin, tookMs * pausePerDuration);
}

/** Returns how long the slowest of those took that are shown together. One that is late has a longer pause of its own. */
async function shownTogether(readers: readonly Reader[]): Promise<number> {
  const done: (() => void)[] = [];
  const startedAt = Date.now();
  let isLate = false;
  let tookMs = 0;
  const reads = readers.map(async (reader) => {
    const show = await reader.read();
    if (isLate) return show();
    tookMs = Date.now() - startedAt;
    done.push(show);
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const longEnough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, togetherMsMax);
  });
  await Promise.race([Promise.all(reads), longEnough]);
  clearTimeout(timer);
  isLate = true;
  for (const show of done) show();
  return tookMs;
}
