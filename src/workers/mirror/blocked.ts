import { mirrorLimits } from "./limits.ts";

interface Entry {
  readonly why: string;
  readonly untilMs: number;
}

/**
 * Objects that are left as they are for now: they are somebody else's, or were refused. Each is tried
 * again after a while; one that is not wanted any more is not, and is forgotten.
 */
export class Blocked {
  readonly #entries = new Map<string, Entry>();

  has(name: string): boolean {
    return (this.#entries.get(name)?.untilMs ?? 0) > performance.now();
  }

  /** Whether that is news. */
  add(name: string, why: string): boolean {
    const untilMs = performance.now() + mirrorLimits.blockedMs;
    const known = this.#entries.get(name)?.why === why;
    this.#entries.set(name, { why, untilMs });
    return !known;
  }

  forgetOld(): void {
    const beforeMs = performance.now() - mirrorLimits.blockedMs;
    for (const [name, { untilMs }] of this.#entries) {
      if (untilMs < beforeMs) this.#entries.delete(name);
    }
  }
}
