import { Problem } from "../../api/problem.ts";
import type { BerthClient, HeldLease } from "../../client/berth-client.ts";
import { poolsOf } from "../show/leases.ts";
import { plain } from "../terminal/text.ts";

/** The server slows down once per burst of throttling, so we report each pool once in this time. */
const reportIntervalMs = 60_000;

/** Reports to the server that the cloud throttled the job, for every pool that it holds. */
export class ThrottleReports {
  readonly #client: BerthClient;
  readonly #note: (text: string) => void;
  readonly #held: () => readonly HeldLease[];
  readonly #reportedAtMs = new Map<string, number>();
  readonly #sending = new Set<Promise<void>>();
  #isUnsupported = false;

  constructor(client: BerthClient, note: (text: string) => void, held: () => readonly HeldLease[]) {
    this.#client = client;
    this.#note = note;
    this.#held = held;
  }

  reportThrottled(evidence: string): void {
    for (const lease of this.#held()) {
      for (const pool of poolsOf(lease.claims)) this.#report(lease, pool, evidence);
    }
  }

  /** Waits until all reports are sent. */
  async close(): Promise<void> {
    await Promise.all(this.#sending);
  }

  #report(lease: HeldLease, pool: string, evidence: string): void {
    const nowMs = performance.now();
    const lastAtMs = this.#reportedAtMs.get(pool) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - lastAtMs < reportIntervalMs || this.#isUnsupported) return;
    this.#reportedAtMs.set(pool, nowMs);
    this.#note(plain(`berth: Reporting that ${pool} is throttled: ${evidence}`));
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
      if (!this.#isUnsupported)
        this.#note("berth: The server does not support reports; none is sent");
      this.#isUnsupported = true;
      return;
    }
    // The server will refuse the next report for this pool, too. Log the refusal only once.
    if (error instanceof Problem && error.status < 500) {
      this.#reportedAtMs.set(pool, Number.POSITIVE_INFINITY);
    }
    const why = error instanceof Error ? error.message : String(error);
    this.#note(plain(`berth: Cannot report that ${pool} is throttled: ${why}`));
  }
}
