import { LeaseLost } from "../client/errors.ts";
import { KeepAlive, type KeepAliveOptions } from "../client/keep-alive.ts";
import { pause, pauseMs } from "../client/pause.ts";
import { formatDuration } from "../core/model/duration.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { watchLeases } from "../kubernetes/watch-leases.ts";
import { expiresAtMs } from "./expiry.ts";
import { type HeldSlot, isOurs, renewSlot } from "./held-slot.ts";

/**
 * Renews a slot until stopped, and says when it can no longer be relied on: at once when somebody has
 * deleted it or taken it over, which a watch tells, and when no renewal got through for so long that
 * somebody may take it over before what it is used for has ended.
 */
export class KeptSlot {
  readonly alive: KeepAlive;
  /** Aborts with a `LeaseLost`. */
  readonly signal: AbortSignal;
  readonly #stopped = new AbortController();

  constructor(store: LeaseStore, held: HeldSlot, options: KeepAliveOptions = {}) {
    const taken = new AbortController();
    this.alive = new KeepAlive(heartbeatsOf(store, held), leaseOf(held), options);
    this.signal = AbortSignal.any([this.alive.signal, taken.signal]);
    void this.#look(store, held, taken);
  }

  stop(): void {
    this.alive.stop();
    this.#stopped.abort();
  }

  /** Renewals find out as well, only later; so it does not matter how often this fails. */
  async #look(store: LeaseStore, held: HeldSlot, taken: AbortController): Promise<void> {
    const { signal } = this.#stopped;
    for (let failures = 0; !signal.aborted && !taken.signal.aborted; failures++) {
      try {
        const { name } = held;
        for await (const { type, object } of watchLeases(store, {
          version: undefined,
          signal,
          name,
        })) {
          failures = 0;
          if (type !== "DELETED" && isOurs(object, held)) continue;
          const who = object.spec?.holderIdentity ?? "nobody";
          const state = type === "DELETED" ? "it was deleted" : `"${who}" has it now`;
          return taken.abort(new LeaseLost(name, "ended", state));
        }
      } catch {
        // The server is away. The next look, or the renewals, will tell.
      }
      await pause(pauseMs(failures), signal).catch(() => {});
    }
  }
}

function heartbeatsOf(store: LeaseStore, held: HeldSlot) {
  return {
    async heartbeat(_held: unknown, options?: { signal?: AbortSignal | undefined }) {
      const lease = await renewSlot(store, held, options);
      const nowMs = store.api.clock.atLeastMs();
      const expiresAt = new Date(expiresAtMs(lease, nowMs) ?? nowMs).toISOString();
      return { id: held.name, expiresAt, endsAt: null };
    },
  };
}

/** A slot in the words of a lease; it has no token, since the API server knows who may write. */
function leaseOf({ name, durationSeconds }: HeldSlot) {
  const ttl = formatDuration(durationSeconds * 1_000);
  return { id: name, token: "", ttl, endsAt: null, grantedAt: new Date().toISOString() };
}
