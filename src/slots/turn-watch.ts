import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import { slotLimits } from "./limits.ts";
import type { Situation } from "./situation.ts";

/**
 * Notices that whoever is first in line leaves a free slot alone, as only somebody does who is gone.
 * So nobody has to send signs of life while it waits: the one that counts is to take the slot.
 */
export class TurnWatch {
  readonly #turnMs: number;
  #first = "";
  #sinceMs = 0;
  #dueAtMs = Number.POSITIVE_INFINITY;

  constructor(turnMs: number) {
    this.#turnMs = turnMs;
  }

  /** The first in line, if it has had its turn for too long. */
  overdue({ ahead, openings }: Situation, nowMs = performance.now()): LeaseObject | undefined {
    const [first] = ahead;
    const onTurn = openings.length === 0 ? undefined : first?.metadata.uid;
    if (onTurn === undefined) {
      this.#first = "";
      this.#dueAtMs = Number.POSITIVE_INFINITY;
      return undefined;
    }
    const late = nowMs - this.#dueAtMs > slotLimits.lateMsMax;
    if (this.#first !== onTurn || late) {
      this.#first = onTurn;
      this.#sinceMs = nowMs;
    }
    this.#dueAtMs = this.#sinceMs + this.#turnMs + (ahead.length - 1) * slotLimits.turnStepMs;
    return nowMs >= this.#dueAtMs ? first : undefined;
  }

  get msToOverdue(): number {
    return this.#dueAtMs - performance.now();
  }
}
