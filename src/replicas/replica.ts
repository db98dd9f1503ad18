/**
 * One of several servers on one journal. It follows the journal until it can lead, and leads until it
 * cannot renew its lease.
 *
 *   following ── nobody leads, and its claim succeeds ──▶ leading
 *   leading ── its lease ran out, or another replica leads, or it stops ──▶ following
 *
 * A leader whose lease has run out decides nothing and answers nothing from memory. If nobody else has
 * claimed the lead meanwhile (the database was slow), it goes on in the same epoch.
 */
import type { Broker } from "../broker/broker.ts";
import { NotLeader } from "../broker/broker-contract.ts";
import type { KnownReplica, SharedJournal, Standing } from "../journal/shared-journal.ts";
import type { ReplicaClock, ReplicaLimits } from "./replica-options.ts";
import { Tenure } from "./tenure.ts";

export interface ReplicaListener {
  /** It leads from now on, or it does no longer. */
  leads?(isLeading: boolean): void;
  /** Called before it leads, with the clock of the database. */
  claimed?(standing: Standing): void;
  /** The journal cannot be reached, or (null) it can be again. */
  reachable?(cause: Error | null): void;
  /** Each time it has looked at the journal; `sentAtMs`: when, by `performance.now`. */
  looked?(standing: Standing, sentAtMs: number): void;
}

export type FollowedBroker = Pick<
  Broker,
  "follow" | "head" | "lead" | "listen" | "mode" | "resume" | "stepDown"
>;

/** Between two looks of a replica that has stopped. */
const lookAgainMs = 10;

export interface ReplicaSetup {
  readonly id: string;
  readonly version: string;
  readonly clock: ReplicaClock;
  readonly limits: ReplicaLimits;
}

export class Replica {
  readonly id: string;
  readonly #journal: SharedJournal;
  readonly #setup: ReplicaSetup;
  readonly #clock: ReplicaClock;
  readonly #tenure: Tenure;
  #broker: FollowedBroker | undefined;
  #listener: ReplicaListener = {};
  #address: string | null = null;
  #standing: Standing | undefined;
  /** Memory had all that was committed at this time. */
  #freshAtMs = Number.NEGATIVE_INFINITY;
  #isFollowSet = false;
  #followedAtMs = Number.NEGATIVE_INFINITY;
  #watch: { readonly isLive: boolean; stop(): void } | undefined;
  #isLeading = false;
  #isStopped = false;
  /** Set by `stop`: resolves when this replica leads no more. */
  #handedOver: Promise<void> | undefined;
  #isReachable = true;
  #cancelTick = () => {};
  #ticking: Promise<void> | undefined;
  #tickAgain = false;
  #claimAtMs: number | undefined;
  /** The lease of the leader has seemed too long since then. */
  #tooLongSinceMs: number | undefined;
  #reportAtMs = Number.NEGATIVE_INFINITY;
  #reporting: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #nextLook: Promise<void> | undefined;
  readonly #onChange = new Set<() => void>();
  /** Resolves at the end of each tick. */
  #ticked = Promise.withResolvers<void>();

  constructor(journal: SharedJournal, setup: ReplicaSetup) {
    this.id = setup.id;
    this.#journal = journal;
    this.#setup = setup;
    this.#clock = setup.clock;
    this.#tenure = new Tenure(journal, setup.clock, setup.limits);
  }

  /** For the broker: whether it may decide now. */
  readonly mayDecide = (): boolean => this.#tenure.isValid;

  /** For the broker: a reader sees everything that was committed before it asked. */
  readonly freshen = (): Promise<void> | undefined => {
    if (this.#broker === undefined) return undefined;
    if (this.#isLeading && this.#tenure.isValid) return undefined;
    return this.#freshened();
  };

  get isLeading(): boolean {
    return this.#isLeading && this.#tenure.isValid && this.#broker?.mode !== "standby";
  }

  /** What the journal said when this replica last looked. */
  get standing(): Standing | undefined {
    return this.#standing;
  }

  /** Whether notifications arrive; otherwise this replica polls. */
  get isNotified(): boolean {
    return this.#watch?.isLive ?? false;
  }

  /** Whether the journal could be reached the last time. */
  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** For how long memory may have missed something; 0 for the leader. */
  get staleMs(): number {
    return this.isLeading ? 0 : Math.max(0, this.#clock.nowMs() - this.#freshAtMs);
  }

  /** `address`: where the others reach it; null: they cannot, so it never leads. */
  start(broker: FollowedBroker, address: string | null, listener: ReplicaListener): void {
    this.#broker = broker;
    this.#address = address;
    this.#listener = listener;
    const tickNow = () => this.#tickSoon(0);
    this.#watch = this.#journal.watch({
      committed: () => this.#followSoon(),
      leaderChanged: tickNow,
    });
    broker.listen({
      writable: (cause) => {
        if (cause !== null && broker.mode === "standby") tickNow();
      },
    });
    tickNow();
  }

  /** Calls `changed` each time another replica, or this one, may have begun to lead. */
  onChange(changed: () => void): () => void {
    this.#onChange.add(changed);
    return () => this.#onChange.delete(changed);
  }

  replicas(): Promise<readonly KnownReplica[]> {
    return this.#journal.replicas();
  }

  /** Hands the lead over at once. The broker must still be open. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTick();
    this.#watch?.stop();
    await this.#ticking;
    this.#handedOver = this.#isLeading
      ? this.#stepDown(new Error("This server stops"))
      : Promise.resolve();
    await this.#handedOver;
    await this.#reporting;
    await this.#journal.forget(this.id).catch(() => {}); // The list forgets it by itself later.
  }

  /** After `stop`: looks once at who leads now. Resolves after a short pause, and never rejects. */
  async lookAgain(): Promise<void> {
    const standing = await this.#journal.look().catch(() => undefined);
    if (standing !== undefined) this.#setStanding(standing);
    await new Promise<void>((resolve) => this.#clock.after(lookAgainMs, resolve));
  }

  #tickSoon(delayMs: number): void {
    if (this.#isStopped) return;
    if (this.#ticking !== undefined && delayMs === 0) {
      this.#tickAgain = true;
      return;
    }
    this.#cancelTick();
    this.#cancelTick = this.#clock.after(delayMs, () => {
      this.#ticking ??= this.#tick().finally(() => {
        this.#ticking = undefined;
        this.#ticked.resolve();
        this.#ticked = Promise.withResolvers();
        const again = this.#tickAgain;
        this.#tickAgain = false;
        this.#tickSoon(again ? 0 : this.#pauseMs());
      });
    });
  }

  /** Until the next look at the journal, or the next renewal. */
  #pauseMs(): number {
    const { renewEveryMs, pollEveryMs, pollAloneEveryMs, retryMs } = this.#setup.limits;
    if (!this.#isReachable) return retryMs;
    if (this.#isLeading) return renewEveryMs;
    const pollMs = this.isNotified ? pollEveryMs : pollAloneEveryMs;
    if (this.#claimAtMs !== undefined) {
      return Math.max(1, Math.min(pollMs, this.#claimAtMs - this.#clock.nowMs()));
    }
    return Math.max(1, Math.min(pollMs, this.#standing?.remainingMs ?? pollMs));
  }

  async #tick(): Promise<void> {
    try {
      if (this.#isLeading) await this.#renew();
      else await this.#look();
      if (!this.#isLeading && this.#isClaimable()) await this.#claim();
      this.#setReachable(null);
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      if (this.#isLeading && !this.#tenure.isValid) await this.#stepDown(cause);
      this.#setReachable(cause);
    }
    // Not awaited: the next renewal must not wait for it.
    this.#reporting ??= this.#report()
      .catch(() => {})
      .finally(() => {
        this.#reporting = undefined;
      });
  }

  async #renew(): Promise<void> {
    if (this.#broker?.mode === "standby") {
      // It met a conflict. Nobody is served until somebody leads, so it gives the lead up.
      return this.#stepDown(new Error("This server met a conflict in the journal"));
    }
    const sentAt = performance.now();
    const standing = await this.#tenure.renew();
    if (standing === undefined) return this.#stepDown(new NotLeader("Another server leads"));
    this.#listener.looked?.(standing, sentAt);
    this.#setStanding(standing);
    this.#broker?.resume();
  }

  /** Applies everything that was committed before the call. */
  async #look(): Promise<void> {
    const sentAtMs = this.#clock.nowMs();
    const sentAt = performance.now();
    const standing = await this.#journal.look();
    this.#listener.looked?.(standing, sentAt);
    this.#setStanding(standing);
    const broker = this.#broker;
    if (broker === undefined || this.#isLeading) return;
    if (standing.head > broker.head || broker.mode === "standby") await broker.follow();
    if (broker.head >= standing.head) this.#freshAtMs = Math.max(this.#freshAtMs, sentAtMs);
  }

  #setStanding(standing: Standing): void {
    const before = this.#standing?.epoch;
    this.#standing = standing;
    if (standing.epoch !== before) this.#notify();
  }

  #notify(): void {
    for (const changed of [...this.#onChange]) changed();
  }

  /** At once, unless it has just done so: then once for all commits that come meanwhile. */
  #followSoon(): void {
    if (this.#isFollowSet) return;
    this.#isFollowSet = true;
    const pauseMs = this.#followedAtMs + this.#setup.limits.gatherMs - this.#clock.nowMs();
    if (pauseMs <= 0) this.#followNow();
    else this.#clock.after(pauseMs, () => this.#followNow());
  }

  #followNow(): void {
    this.#isFollowSet = false;
    if (this.#isLeading || this.#isStopped) return;
    this.#followedAtMs = this.#clock.nowMs();
    const sentAtMs = this.#clock.nowMs();
    this.#broker?.follow().then(
      () => {
        this.#freshAtMs = Math.max(this.#freshAtMs, sentAtMs);
      },
      () => this.#tickSoon(0),
    );
  }

  /** The leader that was comes first: it may only have been slow. */
  #isClaimable(): boolean {
    const { standing } = this;
    if (this.#isStopped || standing === undefined || this.#address === null) return false;
    if (standing.leader !== null && standing.remainingMs > 0 && !this.#isClockSetBack(standing)) {
      this.#claimAtMs = undefined;
      return false;
    }
    // Nobody leads: either it has said so, or it was silent for too long.
    if (standing.leader === null || standing.leader.replica === this.id) return true;
    const now = this.#clock.nowMs();
    this.#claimAtMs ??= now + this.#clock.random() * this.#setup.limits.claimDelayMsMax;
    return now >= this.#claimAtMs;
  }

  /**
   * The clock of the database was set back if a lease seems to last longer than any lease does. Its
   * leader may live: then it renews the lease within that time, which makes it look right again.
   */
  #isClockSetBack({ remainingMs }: Standing): boolean {
    const { leaseMs } = this.#setup.limits;
    if (remainingMs <= 2 * leaseMs) {
      this.#tooLongSinceMs = undefined;
      return false;
    }
    const now = this.#clock.nowMs();
    this.#tooLongSinceMs ??= now;
    return now - this.#tooLongSinceMs > leaseMs;
  }

  async #claim(): Promise<void> {
    this.#claimAtMs = undefined;
    const standing = await this.#tenure.claim({ id: this.id, address: this.#address });
    if (standing === undefined) return;
    this.#listener.claimed?.(standing);
    this.#isLeading = true;
    this.#setStanding(standing);
    try {
      await this.#whileRenewing(this.#broker?.lead() ?? Promise.resolve());
    } catch (cause) {
      await this.#stepDown(cause instanceof Error ? cause : new Error(String(cause)));
      throw cause;
    }
    this.#notify();
    this.#listener.leads?.(true);
  }

  /** Applying what is missing may take longer than the lease lasts. Throws if another one leads then. */
  async #whileRenewing(work: Promise<void>): Promise<void> {
    const { renewEveryMs } = this.#setup.limits;
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    for (;;) {
      const pause = Promise.withResolvers<void>();
      const cancel = this.#clock.after(renewEveryMs, pause.resolve);
      await Promise.race([done, pause.promise]).finally(cancel);
      if (isDone) return done;
      const renewed = await this.#tenure.renew().catch(() => "not renewed");
      if (renewed !== undefined) continue;
      await done;
      throw new NotLeader("Another server leads");
    }
  }

  /** Ends its own epoch, if it still can, so that nobody has to wait for the lease to run out. */
  async #stepDown(cause: Error): Promise<void> {
    await this.#broker?.stepDown(cause);
    this.#tenure.end();
    this.#isLeading = false;
    this.#notify();
    this.#listener.leads?.(false);
    await this.#journal.resign().catch(() => {}); // Then it runs out.
  }

  /** Those who ask while one look is under way share the next one. */
  async #freshened(): Promise<void> {
    await this.#handedOver;
    // A leader whose lease has run out: it is renewed, or this replica follows.
    while (this.#isLeading && !this.#isStopped) {
      if (this.isLeading) return;
      this.#tickSoon(0);
      await this.#ticked.promise;
    }
    if (this.#looking !== undefined) {
      this.#nextLook ??= this.#looking.then(() => {
        this.#nextLook = undefined;
        return this.#startLook();
      });
      return this.#nextLook;
    }
    return this.#startLook();
  }

  #startLook(): Promise<void> {
    const look = this.#look().catch((cause: unknown) => {
      if (this.staleMs > this.#setup.limits.staleMsMax) throw cause;
    });
    // Whoever waits for the next one does not care how this one ends.
    const ended = look
      .catch(() => {})
      .finally(() => {
        if (this.#looking === ended) this.#looking = undefined;
      });
    this.#looking = ended;
    return look;
  }

  #setReachable(cause: Error | null): void {
    const isReachable = cause === null;
    if (isReachable === this.#isReachable) return;
    this.#isReachable = isReachable;
    this.#listener.reachable?.(cause);
  }

  async #report(): Promise<void> {
    const now = this.#clock.nowMs();
    if (now < this.#reportAtMs || this.#isStopped) return;
    this.#reportAtMs = now + this.#setup.limits.reportEveryMs;
    const { version } = this.#setup;
    const seq = this.#broker?.head ?? 0;
    await this.#journal.report({ id: this.id, address: this.#address, version, seq });
    if (this.#isLeading) await this.#journal.raiseFormat();
  }
}
