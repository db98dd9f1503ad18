import { LeaseLost } from "../client/errors.ts";
import { KeepAlive, type KeepAliveOptions } from "../client/keep-alive.ts";
import { pause, pauseMs } from "../client/pause.ts";
import { formatDuration } from "../core/model/time.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { watchLeases } from "../kubernetes/watch-leases.ts";
import { expiresAtMs } from "./expiry.ts";
import { type HeldSlot, isOurs, renewSlot } from "./held-slot.ts";

/**
 * Renews a slot until it is stopped, and aborts `signal` when the slot is no longer safe. This
 * happens at once when a watch reports that the slot was deleted or taken over, and also when no
 * renewal succeeded for so long that another run may take the slot before the command has stopped.
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
    void this.#watch(store, held, taken);
  }

  stop(): void {
    this.alive.stop();
    this.#stopped.abort();
  }

  /** The renewals detect a loss too, only later. So a failure of this watch does no harm. */
  async #watch(store: LeaseStore, held: HeldSlot, taken: AbortController): Promise<void> {
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
        // The server is unreachable. The next try or the renewals will detect a loss.
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

/** A slot in the form of a lease. It has no token, because the API server checks who may write. */
function leaseOf({ name, durationSeconds }: HeldSlot) {
  const ttl = formatDuration(durationSeconds * 1_000);
  return { id: name, token: "", ttl, endsAt: null, grantedAt: new Date().toISOString() };
}
