import { Problem } from "../../api/problem.ts";
import type { BerthClient, HeldLease } from "../../client/berth-client.ts";
import { poolsOf } from "../show/leases.ts";
import { plain } from "../terminal/text.ts";

/** The server slows down once for a whole burst of complaints; the rest of it is no news. */
const quietMs = 60_000;

/** Tells the server, of every pool that the job holds something of, that the cloud has throttled it. */
export class ThrottleSignals {
  readonly #client: BerthClient;
  readonly #note: (text: string) => void;
  readonly #held: () => readonly HeldLease[];
  readonly #toldAtMs = new Map<string, number>();
  readonly #sending = new Set<Promise<void>>();
  #unknown = false;

  constructor(client: BerthClient, note: (text: string) => void, held: () => readonly HeldLease[]) {
    this.#client = client;
    this.#note = note;
    this.#held = held;
  }

  throttled(evidence: string): void {
    for (const lease of this.#held()) {
      for (const pool of poolsOf(lease.claims)) this.#tell(lease, pool, evidence);
    }
  }

  /** Until all that was to be told has been. */
  async close(): Promise<void> {
    await Promise.all(this.#sending);
  }

  #tell(lease: HeldLease, pool: string, evidence: string): void {
    const nowMs = performance.now();
    const quiet = nowMs - (this.#toldAtMs.get(pool) ?? Number.NEGATIVE_INFINITY) < quietMs;
    if (quiet || this.#unknown) return;
    this.#toldAtMs.set(pool, nowMs);
    this.#note(plain(`berth: Throttled, says ${pool}'s holder: ${evidence}`));
    const sending = this.#client
      .signal(lease, { throttled: true, pool, evidence })
      .catch((error: unknown) => this.#failed(pool, error))
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  #failed(pool: string, error: unknown): void {
    const isOld =
      error instanceof Problem && ["not_found", "unexpected_reply"].includes(error.code);
    if (isOld && error.status === 404) {
      if (!this.#unknown) this.#note("berth: The server does not take signals; none is sent");
      this.#unknown = true;
      return;
    }
    // A refusal stays one: who is not asked to report is not told so once a minute.
    if (error instanceof Problem && error.status < 500) {
      this.#toldAtMs.set(pool, Number.POSITIVE_INFINITY);
    }
    const why = error instanceof Error ? error.message : String(error);
    this.#note(plain(`berth: Cannot signal that ${pool} is throttled: ${why}`));
  }
}
