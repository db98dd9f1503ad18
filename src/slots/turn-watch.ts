import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import { slotLimits } from "./limits.ts";
import type { Situation } from "./situation.ts";

/**
 * Detects that the first in the queue does not take a free slot, which means that its process is
 * gone. So waiting runs send no heartbeats: taking the slot is the proof that a run is alive.
 */
export class TurnWatch {
  readonly #turnMs: number;
  #first = "";
  #sinceMs = 0;
  #dueAtMs = Number.POSITIVE_INFINITY;

  constructor(turnMs: number) {
    this.#turnMs = turnMs;
  }

  /** Returns the first in the queue if its turn has lasted too long. */
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
