import { Problem } from "../api/problem.ts";
import type { Lease, WaitingRequest } from "../api/schemas.ts";
import type { BerthCalls, CallOptions, Granted, Held, Waiting } from "./calls.ts";
import { type BerthUnreachable, NotGranted } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { isTemporary, retrying } from "./pause.ts";
import { releaseWithRetries } from "./release.ts";

/** A lease with its token. */
export type HeldLease = Lease & { readonly token: string };

export interface AcquireOptions {
  /** An abort leaves the queue, and releases the lease if it was granted meanwhile. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the state after each poll. */
  readonly onWaiting?: ((request: WaitingRequest) => void) | undefined;
  /**
   * Called when the request is given up although the server may know it, with the time for which
   * leaving is tried; and if that fails, too.
   */
  readonly onGivingUp?: ((step: "trying" | "failed", forMs: number) => void) | undefined;
  /** Called after each failed try. The next `onWaiting` means that the server answers again. */
  readonly onRetry?: ((error: BerthUnreachable | Problem) => void) | undefined;
  /** Throws `NotGranted` after this time. Default: no limit. 0 does not wait at all. */
  readonly timeoutMs?: number | undefined;
  /** How long to retry if the server has not answered once. */
  readonly connectMs?: number | undefined;
  /** How long each poll stays open. A shorter time shows position changes sooner. */
  readonly pollMs?: number | undefined;
}

/** Sends the request. It contains a request id, so that sending it again returns the same request. */
export type SendRequest = (options?: CallOptions) => Promise<Granted | Waiting>;

/** A request from its first send until it is granted or has left the queue. */
export class QueuedRequest {
  readonly #calls: BerthCalls;
  readonly #send: SendRequest;
  readonly #options: AcquireOptions;
  readonly #startedAtMs = performance.now();
  #held: Held | undefined;
  /** A call was sent whose answer is missing. */
  #mayBeKnown = false;
  #lastState: WaitingRequest | undefined;

  constructor(calls: BerthCalls, send: SendRequest, options: AcquireOptions) {
    this.#calls = calls;
    this.#send = send;
    this.#options = options;
  }

  /** Waits for the grant. On every error, leaves the queue before it throws. */
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
        const answer = await this.#retry(() => this.#send());
        const { id, token } = answer.granted ? answer.lease : answer.request;
        this.#held = { id, token: requireToken(token) };
        return answer.granted ? this.#lease(answer.lease) : await this.#wait(answer.request);
      } catch (error) {
        // A server without a journal loses the request in a restart. Sending the same id is safe.
        const forgotten = error instanceof Problem && error.code === "request_not_found";
        if (!forgotten || asks >= clientLimits.asksMax) throw error;
      }
    }
  }

  async #wait(first: WaitingRequest): Promise<HeldLease> {
    let request = first;
    for (;;) {
      this.#lastState = request;
      this.#options.onWaiting?.(request);
      const leftMs = this.#leftMs();
      if (leftMs <= 0) return this.#leaveAtTimeout(request);
      const waitMs = Math.min(this.#options.pollMs ?? clientLimits.pollMs, leftMs);
      const answer = await this.#poll(Math.max(1, Math.round(waitMs)));
      if (answer.granted) return this.#lease(answer.lease);
      request = answer.request;
    }
  }

  #poll(waitMs: number): Promise<Granted | Waiting> {
    const { signal } = this.#options;
    let nextMs = waitMs;
    return this.#retry(() => {
      const options = { waitMs: nextMs, signal };
      nextMs = 0; // After a failure, poll without a wait, to report the recovery at once.
      return this.#calls.request(this.#requireHeld(), options);
    });
  }

  /** Retries during an outage, but not longer than the timeout. */
  async #retry<T>(attempt: () => Promise<T>): Promise<T> {
    const { signal, onRetry, connectMs = clientLimits.connectMs } = this.#options;
    const limitMs =
      this.#held === undefined ? connectMs : Math.max(connectMs, clientLimits.outageMs);
    const forMs = Math.min(limitMs, Math.max(0, this.#leftMs()));
    try {
      return await retrying(() => attempt().catch(this.#noteFailure), { forMs, signal, onRetry });
    } catch (error) {
      if (this.#lastState === undefined || this.#leftMs() > 0) throw error;
      await this.#leave();
      throw new NotGranted(this.#lastState, this.#options.timeoutMs ?? 0);
    }
  }

  #leftMs(): number {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return Number.POSITIVE_INFINITY;
    return this.#startedAtMs + timeoutMs - performance.now();
  }

  /** Leaves the queue. If the request was granted at the last moment, returns the lease. */
  async #leaveAtTimeout(request: WaitingRequest): Promise<HeldLease> {
    try {
      await this.#calls.leave(this.#requireHeld(), { answerMs: clientLimits.leaveMs });
    } catch (error) {
      const granted = error instanceof Problem && error.code === "request_granted";
      const answer = granted ? await this.#poll(1) : undefined;
      if (answer?.granted) return this.#lease(answer.lease);
    }
    throw new NotGranted(request, this.#options.timeoutMs ?? 0);
  }

  readonly #noteFailure = (error: unknown): never => {
    this.#mayBeKnown ||= isTemporary(error) && (error instanceof Problem || error.wasSent);
    throw error;
  };

  /**
   * Leaves the queue, or releases what was granted meanwhile. A person who has pressed Ctrl-C does
   * not wait for long. If it fails, the server drops the request or the lease after its ttl.
   */
  async #leave(): Promise<void> {
    const { signal, connectMs = clientLimits.connectMs, onGivingUp } = this.#options;
    const isByUser = signal?.aborted === true;
    if (this.#held === undefined && !isByUser && !this.#mayBeKnown) return;
    const { leaveMs, releaseMs } = clientLimits;
    const forMs = isByUser ? leaveMs : Math.max(leaveMs, Math.min(releaseMs, connectMs));
    const tells = !isByUser && this.#mayBeKnown;
    if (tells) onGivingUp?.("trying", forMs);
    try {
      await retrying(() => this.#leaveOnce(), { forMs });
    } catch (error) {
      const isKnown = error instanceof Problem && error.code === "request_granted";
      if (isKnown && this.#held !== undefined && (await this.#released(this.#held, forMs))) return;
      if (tells && isTemporary(error)) onGivingUp?.("failed", forMs);
    }
  }

  /** If the answer to the first send is missing, the same request is sent again to learn its id. */
  async #leaveOnce(): Promise<void> {
    const answerMs = clientLimits.leaveMs;
    if (this.#held === undefined) {
      const answer = await this.#send({ answerMs });
      const { id, token } = answer.granted ? answer.lease : answer.request;
      this.#held = { id, token: requireToken(token) };
    }
    await this.#calls.leave(this.#held, { answerMs });
  }

  async #released(held: Held, forMs: number): Promise<boolean> {
    try {
      await releaseWithRetries(this.#calls, held, { forMs });
      return true;
    } catch {
      return false;
    }
  }

  /** Throws if the wait was aborted. The caller then releases the lease. */
  #lease(lease: Lease): HeldLease {
    this.#options.signal?.throwIfAborted();
    return { ...lease, token: this.#requireHeld().token };
  }

  #requireHeld(): Held {
    if (this.#held === undefined) throw new Error("Cannot use the request: it has no id yet");
    return this.#held;
  }
}

function requireToken(token: string | undefined): string {
  if (token !== undefined) return token;
  throw Problem.from(200, undefined); // A response without a token is not from a Berth server.
}
