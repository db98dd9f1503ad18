import type { ReplicaReport, SharedJournal, Standing } from "../journal/shared-journal.ts";
import type { ReplicaClock, ReplicaLimits } from "./replica-options.ts";

/**
 * The right to lead, for a limited time. The database counts the lease from when it executes the
 * renewal, and this replica from when it sent it, which is earlier. So this replica knows that its
 * lease has ended before any other replica can claim it, however long it was paused.
 */
export class Tenure {
  readonly #journal: SharedJournal;
  readonly #clock: ReplicaClock;
  readonly #limits: ReplicaLimits;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  /** Which claim it is, so that no late answer to an earlier one counts. */
  #claims = 0;

  constructor(journal: SharedJournal, clock: ReplicaClock, limits: ReplicaLimits) {
    this.#journal = journal;
    this.#clock = clock;
    this.#limits = limits;
    journal.renewWithCommits(() => this.#sending());
  }

  /** Asked before every decision and every answer. */
  get isValid(): boolean {
    return this.#clock.nowMs() < this.#validUntilMs;
  }

  /** Undefined if another replica leads. */
  async claim(me: Pick<ReplicaReport, "id" | "address">): Promise<Standing | undefined> {
    const sentAtMs = this.#clock.nowMs();
    const standing = await this.#journal.claim(me, this.#limits.leaseMs);
    if (standing === undefined) return undefined;
    this.#claims += 1;
    this.#extend(sentAtMs);
    return standing;
  }

  /** Undefined: another replica leads, or may. */
  async renew(): Promise<Standing | undefined> {
    const extend = this.#sending();
    const standing = await this.#journal.renew(this.#limits.leaseMs);
    if (standing === undefined) this.end();
    else extend();
    return standing;
  }

  /** Something that renews the lease is being sent. Call the result once the database has done it. */
  #sending(): () => void {
    const sentAtMs = this.#clock.nowMs();
    const claims = this.#claims;
    return () => {
      if (claims === this.#claims) this.#extend(sentAtMs);
    };
  }

  end(): void {
    this.#claims += 1;
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  #extend(sentAtMs: number): void {
    const { leaseMs, marginMs } = this.#limits;
    this.#validUntilMs = Math.max(this.#validUntilMs, sentAtMs + leaseMs - marginMs);
  }
}
