import type { BerthClient, HeldLease, KeepAliveOptions } from "../../client/berth-client.ts";
import { LeaseLost } from "../../client/errors.ts";
import type { KeepAlive } from "../../client/keep-alive.ts";
import { clientLimits } from "../../client/limits.ts";
import type { ReleaseOutcome } from "../../client/release.ts";

/** Node fires a timer with a longer delay at once. */
const timerMsMax = 2 ** 31 - 1;

export interface JobLeaseOptions extends KeepAliveOptions {
  readonly releaseMs?: number | undefined;
  /** Called when the lease has ended, but not by a release. */
  readonly onEnd: (lease: JobLease, how: "hold" | LeaseLost) => void;
}

/** One lease of a job, with heartbeats until all of its resources are released. */
export class JobLease {
  readonly lease: HeldLease;
  readonly #client: BerthClient;
  readonly #alive: KeepAlive;
  readonly #hold: NodeJS.Timeout | undefined;
  /** The claim ids of the resources that are still held, by resource name. */
  readonly #claims: Map<string, string>;
  readonly #releaseMs: number;

  constructor(client: BerthClient, lease: HeldLease, options: JobLeaseOptions) {
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
      // The server has ended the claims, so the empty lease is released too.
      this.releaseAll().catch(() => {});
    }, holdMs).unref();
  }

  get names(): string[] {
    return [...this.#claims.keys()];
  }

  has(name: string): boolean {
    return this.#claims.has(name);
  }

  /** Throws if the release fails. The caller may then try again. */
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

  /** Stops the heartbeats and the timer and clears the claims, without a call to the server. */
  forget(): void {
    clearTimeout(this.#hold);
    this.#alive.stop();
    this.#claims.clear();
  }

  /** The time until the lease expires if no more heartbeats arrive. */
  get leftMs(): number {
    return Math.max(0, this.#alive.leftMs);
  }

  /** Releasing makes no sense after the lease has expired. */
  #forMs(): number {
    return Math.min(this.#releaseMs, this.leftMs);
  }
}

/** Both times are from the server, so the clocks of server and client are not compared. */
function holdMsOf({ claims, grantedAt }: HeldLease): number | undefined {
  const ends = claims.map(({ heldUntil }) =>
    heldUntil === null ? Infinity : Date.parse(heldUntil),
  );
  const lastMs = Math.max(...ends) - Date.parse(grantedAt);
  return Number.isFinite(lastMs) ? lastMs : undefined;
}
