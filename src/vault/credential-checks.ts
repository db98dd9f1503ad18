/**
 * Credentials that a provisioner tries out before they are stored. They are in memory only: whoever
 * stores them waits for the answer.
 */
import type { CredentialValues } from "./space-credentials.ts";

export interface CredentialCheck {
  /** Not to be guessed. */
  readonly id: string;
  readonly template: string;
  readonly values: CredentialValues;
}

/** `unknown`: the driver could not tell. */
export interface CheckResult {
  readonly verdict: "valid" | "refused" | "unknown";
  /** In the words of the driver. */
  readonly why: string;
}

interface Waiting extends CredentialCheck {
  answer(result: CheckResult): void;
}

/** Beyond this somebody floods the server. */
const waitingMax = 100;

export class CredentialChecks {
  readonly #queue: Waiting[] = [];
  readonly #taken = new Map<string, Waiting>();
  readonly #takers = new Set<() => void>();

  /** Resolves with `unknown` if no provisioner has answered in time. */
  ask(template: string, values: CredentialValues, timeoutMs: number): Promise<CheckResult> {
    const unknown = (why: string): CheckResult => ({ verdict: "unknown", why });
    if (this.#queue.length >= waitingMax) {
      return Promise.resolve(unknown("too many credentials wait for their check"));
    }
    return new Promise((resolve) => {
      const id = crypto.randomUUID();
      const answer = (result: CheckResult) => {
        clearTimeout(timer);
        const at = this.#queue.findIndex((one) => one.id === id);
        if (at >= 0) this.#queue.splice(at, 1);
        this.#taken.delete(id);
        resolve(result);
      };
      const timer = setTimeout(() => answer(unknown("no provisioner has answered")), timeoutMs);
      timer.unref();
      this.#queue.push({ id, template, values, answer });
      for (const wake of this.#takers) wake();
    });
  }

  /** The next check for a provisioner; undefined if there is none until the signal aborts. */
  async take(signal: AbortSignal): Promise<CredentialCheck | undefined> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) {
        this.#taken.set(next.id, next);
        return next;
      }
      if (signal.aborted) return undefined;
      await this.#woken(signal);
    }
  }

  /** False if nobody waits for the answer any longer. */
  answer(id: string, result: CheckResult): boolean {
    const check = this.#taken.get(id);
    check?.answer(result);
    return check !== undefined;
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#takers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#takers.add(wake);
      signal.addEventListener("abort", wake);
    });
  }
}
