import { mirrorLimits } from "./limits.ts";

interface Entry {
  readonly why: string;
  readonly untilMs: number;
}

/**
 * Objects that the mirror leaves unchanged for now, because they belong to another owner or the API
 * server rejected the write. Each object is tried again after a while. An object that is no longer
 * needed is not tried again, and its entry is removed.
 */
export class Blocked {
  readonly #entries = new Map<string, Entry>();

  has(name: string): boolean {
    return (this.#entries.get(name)?.untilMs ?? 0) > performance.now();
  }

  /** Returns whether the reason is new for this object. */
  add(name: string, why: string): boolean {
    const untilMs = performance.now() + mirrorLimits.blockedMs;
    const known = this.#entries.get(name)?.why === why;
    this.#entries.set(name, { why, untilMs });
    return !known;
  }

  removeOld(): void {
    const beforeMs = performance.now() - mirrorLimits.blockedMs;
    for (const [name, { untilMs }] of this.#entries) {
      if (untilMs < beforeMs) this.#entries.delete(name);
    }
  }
}
