import type { BerthClient, HeldLease, KeepAliveOptions } from "../../client/berth-client.ts";
import { LeaseLost } from "../../client/errors.ts";
import type { KeepAlive } from "../../client/keep-alive.ts";
import { clientLimits } from "../../client/limits.ts";
import type { ReleaseOutcome } from "../../client/release.ts";

/** Node fires a longer timer at once. */
const timerMsMax = 2 ** 31 - 1;

export interface KeptLeaseOptions extends KeepAliveOptions {
  readonly releaseMs?: number | undefined;
  /** It is over, and not because somebody gave it back. */
  readonly onEnd: (lease: KeptLease, how: "hold" | LeaseLost) => void;
}

/** One lease that is kept alive for a job until all of it is given back. */
export class KeptLease {
  readonly lease: HeldLease;
  readonly #client: BerthClient;
  readonly #alive: KeepAlive;
  readonly #hold: NodeJS.Timeout | undefined;
  /** What is still held, by the resource's name, with the claim that it is held by. */
  readonly #claims: Map<string, string>;
  readonly #releaseMs: number;

  constructor(client: BerthClient, lease: HeldLease, options: KeptLeaseOptions) {
    this.#client = client;
    this.lease = lease;
    this.#releaseMs = options.releaseMs ?? clientLimits.releaseMs;
    this.#claims = new Map(lease.claims.map(({ resource, id }) => [resource, id]));
    this.#alive = client.keepAlive(lease, options);
    this.#alive.signal.addEventListener("abort", () => {
      const loss: unknown = this.#alive.signal.reason;
      if (loss instanceof LeaseLost) options.onEnd(this, loss);
    });
    const holdMs = holdMsOf(lease);
    if (holdMs === undefined || holdMs > timerMsMax) return;
    this.#hold = setTimeout(() => {
      options.onEnd(this, "hold");
      // The server has taken its claims back; the empty lease is of no use to anybody.
      this.releaseAll().catch(() => {});
    }, holdMs).unref();
  }

  get names(): string[] {
    return [...this.#claims.keys()];
  }

  has(name: string): boolean {
    return this.#claims.has(name);
  }

  /** Throws what stood in the way; it can be tried again then. */
  async release(name: string): Promise<ReleaseOutcome> {
    const claim = this.#claims.get(name);
    if (claim === undefined) return "gone";
    if (this.#claims.size === 1) return this.releaseAll();
    const outcome = await this.#client.release(this.lease, { claim, forMs: this.#forMs() });
    this.#claims.delete(name);
    return outcome;
  }

  async releaseAll(signal?: AbortSignal): Promise<ReleaseOutcome> {
    const outcome = await this.#client.release(this.lease, { signal, forMs: this.#forMs() });
    this.forget();
    return outcome;
  }

  /** From now on nothing of it is held, and nothing of it keeps the process alive. */
  forget(): void {
    clearTimeout(this.#hold);
    this.#alive.stop();
    this.#claims.clear();
  }

  /** How long the server lets it live at least, if nothing more gets through. */
  get leftMs(): number {
    return Math.max(0, this.#alive.leftMs);
  }

  /** Beyond the lease's own end there is nothing left to give back. */
  #forMs(): number {
    return Math.min(this.#releaseMs, this.leftMs);
  }
}

/** Counted from the grant on the server's own clock: no clocks are compared. */
function holdMsOf({ claims, grantedAt }: HeldLease): number | undefined {
  const ends = claims.map(({ heldUntil }) =>
    heldUntil === null ? Infinity : Date.parse(heldUntil),
  );
  const lastMs = Math.max(...ends) - Date.parse(grantedAt);
  return Number.isFinite(lastMs) ? lastMs : undefined;
}
