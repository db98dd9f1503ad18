import { Problem } from "../api/problem.ts";
import type { Heartbeat } from "../api/schemas.ts";
import { parseDuration, roughDuration } from "../core/model/time.ts";
import type { CallOptions, Held } from "./calls.ts";
import { LeaseLost } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { LinkedAbort } from "./linked-abort.ts";
import { pause, pauseMs } from "./pause.ts";
import type { HeldLease } from "./queued-request.ts";
import { hasEnded } from "./release.ts";

export interface KeepAliveOptions {
  /** The time that the holder needs to stop. The lease counts as lost this long before its end. */
  readonly marginMs?: number | undefined;
  /** Called after each failed heartbeat, with the time since the last successful one. */
  readonly onHeartbeatFailed?: ((error: unknown, sinceMs: number) => void) | undefined;
  /** Called when heartbeats succeed again. */
  readonly onRecovered?: (() => void) | undefined;
  /** Called once when the pool takes the lease back: release it by `endsBy`. */
  readonly onNotice?: ((notice: NonNullable<Heartbeat["notice"]>) => void) | undefined;
}

/** The fields that heartbeats need, of a server's lease or of a slot. */
export type KeptLease = Pick<HeldLease, "id" | "token" | "ttl" | "endsAt" | "grantedAt">;

export interface Heartbeats {
  /** Throws a Problem such as `lease_ended` if the lease has ended. Any other error is retried. */
  heartbeat(held: Held, options?: CallOptions): Promise<Heartbeat>;
  /** Where the server can say at once that the lease is lost, before the next heartbeat. */
  isLostWithin?(
    waitMs: number,
    held: Held,
    options?: CallOptions & { readonly noticed?: boolean },
  ): Promise<boolean | "noticed">;
}

/**
 * Sends heartbeats until `stop`, and aborts its signal when the lease is lost.
 *
 * The server counts the ttl from the arrival of a heartbeat, which is never before its sending. We
 * count from the *sending* of the last heartbeat that was answered, on a monotonic clock. So our
 * deadline is never after the server's. No two clocks are compared.
 */
export class KeepAlive {
  readonly #calls: Heartbeats;
  readonly #lease: KeptLease;
  readonly #options: KeepAliveOptions;
  readonly #ttlMs: number;
  readonly #marginMs: number;
  readonly #lost = new AbortController();
  readonly #stopped = new AbortController();
  readonly #confirmed = Promise.withResolvers<void>();
  #aliveAtMs: number;
  #endsAtMs: number;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #isNoticed = false;

  /** Sends the first heartbeat at once: the lease may have been granted a while ago. */
  constructor(calls: Heartbeats, lease: KeptLease, options: KeepAliveOptions = {}) {
    this.#calls = calls;
    this.#lease = lease;
    this.#options = options;
    this.#ttlMs = ttlOf(lease);
    this.#marginMs = marginOf(lease, this.#ttlMs, options.marginMs);
    this.#aliveAtMs = performance.now();
    this.#endsAtMs = this.#aliveAtMs + lifetimeMs(lease);
    this.#watch();
    void this.#beat();
  }

  /** Aborts with a `LeaseLost`. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** The minimum time until the lease ends on the server, without further heartbeats. */
  get leftMs(): number {
    return Math.min(this.#aliveAtMs + this.#ttlMs, this.#endsAtMs) - performance.now();
  }

  /**
   * Resolves after the first successful heartbeat, or when the lease is lost. The response with the
   * grant may have been delayed for longer than the ttl, so wait for this before you use the lease.
   */
  get confirmed(): Promise<void> {
    return this.#confirmed.promise;
  }

  /** Stops the heartbeats and clears all timers. */
  stop(): void {
    clearTimeout(this.#deadline);
    this.#confirmed.resolve();
    this.#stopped.abort();
  }

  /** Continues after lost contact: a late heartbeat still protects the holder's cleanup. */
  async #beat(): Promise<void> {
    const everyMs = this.#ttlMs / clientLimits.heartbeatsPerTtl;
    const retryMs = this.#ttlMs / clientLimits.heartbeatTriesPerTtl;
    const answerMs = Math.max(everyMs, 1_000);
    for (let failures = 0; !this.#stopped.signal.aborted; ) {
      const sentAtMs = performance.now();
      const ended = await this.#once(Math.min(answerMs, clientLimits.answerMs)).then(
        (heartbeat) => {
          if (failures > 0) this.#options.onRecovered?.();
          failures = 0;
          this.#succeeded(sentAtMs, heartbeat);
          return false;
        },
        (error: unknown) => {
          failures += 1;
          return this.#failed(error);
        },
      );
      if (ended) return;
      if (failures === 0) await this.#pauseUntilLost(everyMs);
      else await this.#pause(Math.min(retryMs, pauseMs(failures)), this.#stopped.signal);
    }
  }

  #pause(durationMs: number, abort: AbortSignal): Promise<void> {
    return pause(durationMs, abort).catch(() => {});
  }

  /** Ends early when the server reports that the lease is lost. The next heartbeat finds out why. */
  async #pauseUntilLost(durationMs: number): Promise<void> {
    const ended = new LinkedAbort(this.#stopped.signal);
    const { signal } = ended;
    const waitMs = Math.max(1, Math.round(durationMs));
    const noticed = this.#isNoticed;
    this.#calls.isLostWithin?.(waitMs, this.#lease, { signal, noticed }).then(
      (fate) => {
        if (fate === true || (fate === "noticed" && !noticed)) ended.abort();
      },
      () => {}, // An older server, or no connection: heartbeats find out.
    );
    await this.#pause(durationMs, signal);
    ended.abort();
    ended.unlink();
  }

  /** Returns undefined if the server cannot write its journal: then it cannot expire leases either. */
  async #once(answerMs: number): Promise<Heartbeat | undefined> {
    const { signal } = this.#stopped;
    try {
      return await this.#calls.heartbeat(this.#lease, { signal, answerMs });
    } catch (error) {
      if (error instanceof Problem && error.code === "journal_unavailable") return undefined;
      throw error;
    }
  }

  #succeeded(sentAtMs: number, heartbeat: Heartbeat | undefined): void {
    this.#aliveAtMs = sentAtMs;
    this.#confirmed.resolve();
    if (heartbeat?.notice !== undefined && !this.#isNoticed) {
      this.#isNoticed = true;
      this.#options.onNotice?.(heartbeat.notice);
    }
    if (heartbeat !== undefined && heartbeat.endsAt !== null) {
      // The server's clock at that moment was `expiresAt` minus the ttl.
      const leftMs = Date.parse(heartbeat.endsAt) - Date.parse(heartbeat.expiresAt) + this.#ttlMs;
      this.#endsAtMs = Math.min(this.#endsAtMs, sentAtMs + leftMs);
    }
    this.#watch();
  }

  /** Returns true if the lease has ended, so that no more heartbeats are needed. */
  #failed(error: unknown): boolean {
    if (this.#stopped.signal.aborted) return true;
    if (hasEnded(error) || isNotOurs(error)) {
      const state = error.message.replace(/^Cannot [^:]*: /, "");
      this.#lose(new LeaseLost(this.#lease.id, "ended", state, error));
      return true;
    }
    this.#options.onHeartbeatFailed?.(error, performance.now() - this.#aliveAtMs);
    return false;
  }

  #watch(): void {
    clearTimeout(this.#deadline);
    const contactEndsAtMs = this.#aliveAtMs + this.#ttlMs;
    const dueAtMs = Math.min(contactEndsAtMs, this.#endsAtMs) - this.#marginMs;
    const waitMs = Math.min(dueAtMs - performance.now(), timerMsMax);
    this.#deadline = setTimeout(() => this.#due(dueAtMs, contactEndsAtMs), Math.max(0, waitMs));
  }

  #due(dueAtMs: number, contactEndsAtMs: number): void {
    if (performance.now() < dueAtMs) return this.#watch();
    const { id, endsAt, ttl } = this.#lease;
    const since = roughDuration(performance.now() - this.#aliveAtMs);
    this.#lose(
      contactEndsAtMs <= this.#endsAtMs
        ? new LeaseLost(id, "noContact", `no heartbeat succeeded for ${since} of its ttl ${ttl}`)
        : new LeaseLost(id, "lifetime", `it reaches its lifetime at ${endsAt ?? "once"}`),
    );
  }

  #lose(loss: LeaseLost): void {
    clearTimeout(this.#deadline);
    if (!this.#lost.signal.aborted) this.#lost.abort(loss);
    this.#confirmed.resolve();
  }
}

/** Node fires longer timers immediately. */
const timerMsMax = 2 ** 31 - 1;

function ttlOf({ id, ttl }: KeptLease): number {
  const ttlMs = parseDuration(ttl ?? "") ?? 0;
  if (ttlMs > 0) return ttlMs;
  throw new TypeError(`Cannot keep lease ${id} alive: its ttl "${ttl}" is not a duration`);
}

/** At most a third of the ttl, so that there is time to retry a failed heartbeat. */
function marginOf(lease: KeptLease, ttlMs: number, wantedMs?: number): number {
  const { marginShare, marginMsMax } = clientLimits;
  const usualMs = Math.min(ttlMs * marginShare, marginMsMax);
  const mostMs = Math.min(ttlMs, lifetimeMs(lease)) / 3;
  return Math.min(Math.max(usualMs, wantedMs ?? 0), mostMs);
}

function lifetimeMs({ endsAt, grantedAt }: KeptLease): number {
  if (endsAt === null) return Number.POSITIVE_INFINITY;
  return Date.parse(endsAt) - Date.parse(grantedAt);
}

/** The token is wrong: another client has this id now, or the server has a new secret. */
function isNotOurs(error: unknown): error is Problem {
  return error instanceof Problem && ["token_wrong", "token_missing"].includes(error.code);
}
