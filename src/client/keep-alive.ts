import { Problem } from "../api/problem.ts";
import type { Heartbeat } from "../api/schemas.ts";
import { parseDuration, roughDuration } from "../core/model/duration.ts";
import type { CallOptions, Held } from "./calls.ts";
import { LeaseLost } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { pause, pauseMs } from "./pause.ts";
import type { HeldLease } from "./place-in-line.ts";
import { isGone } from "./release.ts";

export interface KeepAliveOptions {
  /** The time that stopping takes: the lease counts as lost so long before it may be handed on. */
  readonly marginMs?: number | undefined;
  /** Told at each heartbeat that failed, with how long ago the last one got through. */
  readonly onSilence?: ((error: unknown, silentMs: number) => void) | undefined;
  /** Told when heartbeats get through again. */
  readonly onRecovered?: (() => void) | undefined;
}

/** Anything that can be kept alive: a lease of a server, or something that behaves like one. */
export type KeptLease = Pick<HeldLease, "id" | "token" | "ttl" | "endsAt" | "grantedAt">;

export interface Heartbeats {
  /** Throws a Problem that says so when the lease is gone; anything else counts as silence. */
  heartbeat(held: Held, options?: CallOptions): Promise<Heartbeat>;
}

/**
 * Sends heartbeats until stopped, and says when the lease can no longer be relied on.
 *
 * The server counts from the moment a heartbeat arrives, which is never before it was sent. So
 * whoever stops within a ttl of the last *sending* that was answered, on a clock that is never set,
 * has stopped before anybody else can be given the same thing. No clocks are compared.
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

  /** Starts at once: the lease may have been granted a while before its news arrived. */
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

  /** How long the server lets it live at least, if nothing more gets through. */
  get leftMs(): number {
    return Math.min(this.#aliveAtMs + this.#ttlMs, this.#endsAtMs) - performance.now();
  }

  /**
   * Resolves with the first heartbeat that gets through, or with the loss. News of a grant may have
   * lain in a buffer for longer than the lease: wait for this before you use what it names.
   */
  get confirmed(): Promise<void> {
    return this.#confirmed.promise;
  }

  /** No more heartbeats; nothing of it keeps the process alive from now on. */
  stop(): void {
    clearTimeout(this.#deadline);
    this.#confirmed.resolve();
    this.#stopped.abort();
  }

  /** Goes on after a silence was taken for loss: one that gets through protects the clearing up. */
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
          this.#heard(sentAtMs, heartbeat);
          return false;
        },
        (error: unknown) => {
          failures += 1;
          return this.#failed(error);
        },
      );
      if (ended) return;
      const waitMs = failures === 0 ? everyMs : Math.min(retryMs, pauseMs(failures));
      await pause(waitMs, this.#stopped.signal).catch(() => {});
    }
  }

  /** Undefined: it was heard, but the server cannot write, so it cannot expire anything either. */
  async #once(answerMs: number): Promise<Heartbeat | undefined> {
    const { signal } = this.#stopped;
    try {
      return await this.#calls.heartbeat(this.#lease, { signal, answerMs });
    } catch (error) {
      if (error instanceof Problem && error.code === "journal_unavailable") return undefined;
      throw error;
    }
  }

  #heard(sentAtMs: number, heartbeat: Heartbeat | undefined): void {
    this.#aliveAtMs = sentAtMs;
    this.#confirmed.resolve();
    if (heartbeat !== undefined && heartbeat.endsAt !== null) {
      // The server's clock at that moment was `expiresAt` less the ttl.
      const leftMs = Date.parse(heartbeat.endsAt) - Date.parse(heartbeat.expiresAt) + this.#ttlMs;
      this.#endsAtMs = Math.min(this.#endsAtMs, sentAtMs + leftMs);
    }
    this.#watch();
  }

  /** True if there is nothing left to keep alive. */
  #failed(error: unknown): boolean {
    if (this.#stopped.signal.aborted) return true;
    if (isGone(error) || isNotOurs(error)) {
      const state = error.message.replace(/^Cannot [^:]*: /, "");
      this.#lose(new LeaseLost(this.#lease.id, "ended", state, error));
      return true;
    }
    this.#options.onSilence?.(error, performance.now() - this.#aliveAtMs);
    return false;
  }

  #watch(): void {
    clearTimeout(this.#deadline);
    const silentAtMs = this.#aliveAtMs + this.#ttlMs;
    const dueAtMs = Math.min(silentAtMs, this.#endsAtMs) - this.#marginMs;
    const waitMs = Math.min(dueAtMs - performance.now(), timerMsMax);
    this.#deadline = setTimeout(() => this.#due(dueAtMs, silentAtMs), Math.max(0, waitMs));
  }

  #due(dueAtMs: number, silentAtMs: number): void {
    if (performance.now() < dueAtMs) return this.#watch();
    const { id, endsAt, ttl } = this.#lease;
    const silent = roughDuration(performance.now() - this.#aliveAtMs);
    this.#lose(
      silentAtMs <= this.#endsAtMs
        ? new LeaseLost(id, "silence", `no heartbeat got through for ${silent} of its ttl ${ttl}`)
        : new LeaseLost(id, "lifetime", `it reaches its lifetime at ${endsAt ?? "once"}`),
    );
  }

  #lose(loss: LeaseLost): void {
    clearTimeout(this.#deadline);
    if (!this.#lost.signal.aborted) this.#lost.abort(loss);
    this.#confirmed.resolve();
  }
}

/** Node fires a longer timer at once. */
const timerMsMax = 2 ** 31 - 1;

function ttlOf({ id, ttl }: KeptLease): number {
  const ttlMs = parseDuration(ttl ?? "") ?? 0;
  if (ttlMs > 0) return ttlMs;
  throw new TypeError(`Cannot keep lease ${id} alive: its ttl "${ttl}" is no duration`);
}

/** Never more than a third, so that a heartbeat can fail and be tried again. */
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

/** The id is somebody else's by now, or the server has another secret: either way not ours. */
function isNotOurs(error: unknown): error is Problem {
  return error instanceof Problem && ["token_wrong", "token_missing"].includes(error.code);
}
