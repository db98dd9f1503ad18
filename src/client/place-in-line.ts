import { Problem } from "../api/problem.ts";
import type { Lease, WaitingRequest } from "../api/schemas.ts";
import type { BerthCalls, CallOptions, Granted, Held, Waiting } from "./calls.ts";
import { type BerthUnreachable, NotGranted } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { retrying } from "./pause.ts";
import { giveBackSurely } from "./release.ts";

/** A lease together with the proof that it is yours. */
export type HeldLease = Lease & { readonly token: string };

export interface AcquireOptions {
  /** Aborting it leaves the queue, and gives back what was granted meanwhile. */
  readonly signal?: AbortSignal | undefined;
  /** Told at each look at the queue. */
  readonly onWaiting?: ((request: WaitingRequest) => void) | undefined;
  /** Told at each failed try; the next `onWaiting` means that it is over. */
  readonly onTrouble?: ((error: BerthUnreachable | Problem) => void) | undefined;
  /** `NotGranted` after so long. Without it the wait has no end. 0 asks and does not wait. */
  readonly timeoutMs?: number | undefined;
  /** A server that has not answered yet is given up after so long. */
  readonly connectMs?: number | undefined;
  /** How long each look at the queue stays open: shorter shows the position sooner. */
  readonly pollMs?: number | undefined;
}

/** Asks for a place. It carries a request id, so that asking again finds what there is already. */
export type Asking = (options?: CallOptions) => Promise<Granted | Waiting>;

/** A place in the queue: taken with the first ask, and owned until it is granted or left. */
export class PlaceInLine {
  readonly #calls: BerthCalls;
  readonly #asking: Asking;
  readonly #options: AcquireOptions;
  readonly #startedAtMs = performance.now();
  #held: Held | undefined;
  #seen: WaitingRequest | undefined;

  constructor(calls: BerthCalls, asking: Asking, options: AcquireOptions) {
    this.#calls = calls;
    this.#asking = asking;
    this.#options = options;
  }

  /** However it fails, the place is given up before the error is thrown. */
  async untilGranted(): Promise<HeldLease> {
    try {
      return await this.#ask();
    } catch (error) {
      if (error instanceof NotGranted) throw error; // It has left already.
      await this.#leave();
      throw error;
    }
  }

  async #ask(): Promise<HeldLease> {
    for (let asks = 1; ; asks++) {
      try {
        const fate = await this.#patiently(() => this.#asking());
        const { id, token } = fate.granted ? fate.lease : fate.request;
        this.#held = { id, token: told(token) };
        return fate.granted ? this.#lease(fate.lease) : await this.#wait(fate.request);
      } catch (error) {
        // A server without a journal has forgotten us in a restart. The same id is safe to repeat.
        const forgotten = error instanceof Problem && error.code === "request_not_found";
        if (!forgotten || asks >= clientLimits.asksMax) throw error;
      }
    }
  }

  async #wait(first: WaitingRequest): Promise<HeldLease> {
    let request = first;
    for (;;) {
      this.#seen = request;
      this.#options.onWaiting?.(request);
      const leftMs = this.#leftMs();
      if (leftMs <= 0) return this.#timeUp(request);
      const waitMs = Math.min(this.#options.pollMs ?? clientLimits.pollMs, leftMs);
      const fate = await this.#look(Math.max(1, Math.round(waitMs)));
      if (fate.granted) return this.#lease(fate.lease);
      request = fate.request;
    }
  }

  #look(waitMs: number): Promise<Granted | Waiting> {
    const { signal } = this.#options;
    let nextMs = waitMs;
    return this.#patiently(() => {
      const options = { waitMs: nextMs, signal };
      nextMs = 0; // After a failure an answer is wanted at once: it shows that all is well again.
      return this.#calls.request(this.#mine(), options);
    });
  }

  /** Rides out an outage, but not beyond the time to wait. */
  async #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const { signal, onTrouble, connectMs = clientLimits.connectMs } = this.#options;
    const limitMs =
      this.#held === undefined ? connectMs : Math.max(connectMs, clientLimits.outageMs);
    const forMs = Math.min(limitMs, Math.max(0, this.#leftMs()));
    try {
      return await retrying(attempt, { forMs, signal, onTrouble });
    } catch (error) {
      if (this.#seen === undefined || this.#leftMs() > 0) throw error;
      await this.#leave();
      throw new NotGranted(this.#seen, this.#options.timeoutMs ?? 0);
    }
  }

  #leftMs(): number {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return Number.POSITIVE_INFINITY;
    return this.#startedAtMs + timeoutMs - performance.now();
  }

  /** Leaves; but what was granted in the very last moment is taken. */
  async #timeUp(request: WaitingRequest): Promise<HeldLease> {
    try {
      await this.#calls.leave(this.#mine(), { answerMs: clientLimits.leaveMs });
    } catch (error) {
      const granted = error instanceof Problem && error.code === "request_granted";
      const fate = granted ? await this.#look(1) : undefined;
      if (fate?.granted) return this.#lease(fate.lease);
    }
    throw new NotGranted(request, this.#options.timeoutMs ?? 0);
  }

  /** Does what it can in a short time. Where that fails, the server notices the silence. */
  async #leave(): Promise<void> {
    const answerMs = clientLimits.leaveMs;
    const { signal } = this.#options;
    try {
      if (this.#held === undefined) {
        if (!signal?.aborted) return; // The server said no, or could not be reached.
        // The answer to our ask never came: perhaps we stand in the queue. The same id finds out.
        const fate = await this.#asking({ answerMs });
        const { id, token } = fate.granted ? fate.lease : fate.request;
        this.#held = { id, token: told(token) };
      }
      const held = this.#held;
      const forMs = clientLimits.leaveMs;
      await retrying(() => this.#calls.leave(held, { answerMs }), { forMs });
    } catch (error) {
      const granted = error instanceof Problem && error.code === "request_granted";
      if (!granted || this.#held === undefined) return;
      await giveBackSurely(this.#calls, this.#held, { forMs: clientLimits.leaveMs }).catch(
        () => {},
      );
    }
  }

  /** What is granted in the moment of an abort is given back, like everything else then. */
  #lease(lease: Lease): HeldLease {
    this.#options.signal?.throwIfAborted();
    return { ...lease, token: this.#mine().token };
  }

  #mine(): Held {
    if (this.#held === undefined) throw new Error("Cannot name the request: it was never placed");
    return this.#held;
  }
}

function told(token: string | undefined): string {
  if (token !== undefined) return token;
  throw Problem.from(200, undefined); // No Berth server answers an ask without one.
}
