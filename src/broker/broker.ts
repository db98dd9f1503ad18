/**
 * The broker runs the core: it queues commands, decides each one against memory, makes the events of
 * the whole batch durable in one commit, and only then answers. While one commit is in progress, the
 * next batch collects, so durability costs one sync per batch, not per request.
 *
 * Between commits, memory equals the journal. If a commit fails, memory is ahead of the journal. The
 * broker then drops it and reloads the state from the journal, as after a crash. This is the only
 * way to recover, and it runs often enough to be trusted.
 */

import { decide, isOwn, isVolatile, nextDueAt } from "../core/decide/decide.ts";
import { Undecidable } from "../core/decide/set-aside.ts";
import type { Command } from "../core/model/command.ts";
import { type DurableEvent, isDurable } from "../core/model/event.ts";
import type { RequestId, SpaceName } from "../core/model/ids.ts";
import type { Origin } from "../core/model/origin.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { State } from "../core/model/state.ts";
import { after, type Instant } from "../core/model/time.ts";
import {
  type Journal,
  JournalConflict,
  JournalUnavailable,
  type Recorded,
} from "../journal/journal.ts";
import {
  BrokerClosed,
  type BrokerListener,
  type BrokerOptions,
  defaultBrokerOptions,
  NotLeader,
  OutcomeUnknown,
} from "./broker-contract.ts";
import {
  type BrokerMode,
  isOpen,
  isReadable,
  isStandby,
  isWritable,
  journalAccess,
  leading,
  type ModeChange,
  modeAfter,
} from "./broker-mode.ts";
import { Alarm, type Environment } from "./environment.ts";
import { Memory } from "./memory.ts";
import { type Grace, Pauses } from "./pauses.ts";
import { RepeatedWork } from "./repeated-work.ts";
import { FailedDecisions, type SetAside } from "./set-aside.ts";
import { CommandQueue, Listeners, type QueuedCommand, Waits } from "./waiters.ts";

/** Stands for the outcome of a command that was not decided, because the journal is not writable. */
const undecided = Symbol("undecided");
type Answer = Outcome | typeof undecided;

/** Who waits: a long poll ends when `signal` aborts, and counts for its space. */
interface WaitsBy {
  readonly signal?: AbortSignal | undefined;
  readonly space?: SpaceName | undefined;
}

/**
 * The broker is in one mode at a time (`broker-mode.ts`):
 *
 *   open
 *     │
 *     ▼       a commit fails               a reload fails
 *   leading ─────────────────▶ read-only ─────────────────▶ unreadable ◀── leading: a reload fails
 *     ▲  ▲                     │   ▲                        │              after a bug
 *     │  └─────────────────────┘   └────────────────────────┘
 *     │      a probe is committed         it reloads
 *     │ lead()
 *   standby ◀── leading, read-only: stepDown(), or a conflict with another writer: step-down
 *
 *   leading, read-only ── conflict with another writer: end ──▶ stopped
 *   any ── a tick throws, or the journal contradicts itself ──▶ stopped
 *   any ── close() ──▶ closing ── every submitted command is answered ──▶ stopped
 *
 *   mode         commands                         reads   falls due   probes
 *   leading      decided and committed            yes     yes         no
 *   read-only    heartbeats; JournalUnavailable   yes     no          yes
 *   unreadable   JournalUnavailable               no      no          yes
 *   standby      NotLeader                        (2)     no          no
 *   closing      as before, but BrokerClosed for what comes now       no
 *   ended        BrokerClosed                     (1)     no          no
 *
 *   (1) If memory is what the journal says, as it is after `close`.
 *   (2) After `follow` has loaded what the other server has written, and as of then.
 *
 * A commit, reading back and a probe take time; `#busy` is that work. No mode is left while commands
 * are being decided, and nobody looks at memory before the work under way is done.
 */
export class Broker {
  readonly #journal: Journal;
  readonly #environment: Environment;
  readonly #options: BrokerOptions;
  readonly #listeners = new Listeners();
  readonly #waits = new Waits();
  readonly #queue: CommandQueue;
  readonly #alarm: Alarm;
  readonly #pauses: Pauses;
  readonly #memory: Memory;
  #mode: BrokerMode;
  #scheduled = false;
  /** The commit, reload or probe in progress. Never rejects. */
  #busy: Promise<void> | null = null;
  /** On standby: applies the commits of the other server. */
  readonly #following = new RepeatedWork(() => this.#catchUp());
  /** Whether deadlines count: see `startExpiry`. */
  #expires: boolean;
  #probeSet = false;
  /** What a failed decision was about. It is decided before anything else. */
  #setAside: SetAside | null = null;
  readonly #failedDecisions = new FailedDecisions();

  /** Reads the journal and gives every holder one full ttl of grace. */
  static async open(
    journal: Journal,
    makeEnvironment: (notBefore: Instant) => Environment,
    options: Partial<BrokerOptions> = {},
  ): Promise<Broker> {
    const memory = await Memory.open(journal);
    const environment = makeEnvironment(memory.lastAt);
    return new Broker(journal, environment, { ...defaultBrokerOptions, ...options }, memory);
  }

  private constructor(
    journal: Journal,
    environment: Environment,
    options: BrokerOptions,
    memory: Memory,
  ) {
    this.#journal = journal;
    this.#environment = environment;
    this.#options = options;
    this.#memory = memory;
    this.#mode = options.startAs === "leading" ? leading : startedOnStandby();
    this.#queue = new CommandQueue(options.pendingMax);
    this.#alarm = new Alarm(environment, () => this.#schedule());
    this.#expires = !options.delayExpiry;
    this.#pauses = new Pauses(environment, options.stallMs, () => this.#schedule());
    this.#pauses.watchTtls(memory.state);
    if (isStandby(this.#mode)) return;
    this.#giveGrace();
    this.#schedule();
  }

  get head(): number {
    return this.#memory.head;
  }

  get mode(): BrokerMode["type"] {
    return this.#mode.type;
  }

  /** Why this broker cannot write the journal; null while it can. */
  get unwritable(): Error | null {
    if (this.#mode.type === "stopped") return this.#mode.cause;
    const access = journalAccess(this.#mode);
    return access.type === "leading" ? null : access.cause;
  }

  /** Why this broker has stopped for good; null while it runs. */
  get stoppedBy(): Error | null {
    return this.#mode.type === "stopped" ? this.#mode.cause : null;
  }

  /** The number of open long polls. */
  get openWaits(): number {
    return this.#waits.size;
  }

  /** The number of long polls by clients of this space. */
  openWaitsOf(space: SpaceName): number {
    return this.#waits.sizeOf(space);
  }

  now(): Instant {
    return this.#environment.now();
  }

  listen(listener: BrokerListener): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Resolves once the decision is durable. Rejects with `JournalUnavailable`, `NotLeader`,
   * `BrokerOverloaded` or `BrokerClosed`. Then nothing has happened. Rejects with `OutcomeUnknown` if the
   * journal failed during the commit and cannot be read since.
   * `from` is recorded with the events of the command.
   */
  submit(command: Command, from?: Origin): Promise<Outcome> {
    if (!isOpen(this.#mode)) return Promise.reject(closed(this.stoppedBy));
    const outcome = this.#queue.add(command, this.#environment.now(), from);
    this.#schedule();
    return outcome;
  }

  /** Reads a state that is durable as a whole. Rejects as `submit` does if memory is not readable. */
  async read<T>(read: (state: State, now: Instant) => T): Promise<T> {
    const fresh = this.#options.freshen();
    if (fresh !== undefined) await fresh;
    while (this.#busy !== null) await this.#busy;
    if (!isReadable(this.#mode)) throw this.#refusal();
    return read(this.#memory.state, this.#environment.now());
  }

  /** Whether a long poll waits for this request. */
  isAwaited(id: RequestId): boolean {
    return this.#waits.has(id);
  }

  /**
   * Resolves when the request no longer waits, after `waitMs`, when `signal` aborts, or when this
   * broker closes or steps down. `present`: the caller is the client of this request, not an
   * observer, so the request counts as polled for as long as this call lasts.
   */
  untilSettled(
    id: RequestId,
    waitMs: number,
    { present, ...by }: WaitsBy & { readonly present: boolean },
  ): Promise<void> {
    return this.#wait(id, waitMs, { present, ...by }, (state) => !state.requests.has(id));
  }

  /**
   * The same for a lease: resolves when it has ended or was revoked, or has a notice. A notice that
   * the holder does not know of may have come before this call.
   */
  untilLost(
    id: RequestId,
    waitMs: number,
    { noticed, ...by }: WaitsBy & { readonly noticed: boolean },
  ): Promise<void> {
    const isOver = ({ leases }: State) => {
      const lease = leases.get(id);
      return lease?.revoked !== null || (lease.notice !== null && !noticed);
    };
    return this.#wait(id, waitMs, { present: false, ...by }, isOver);
  }

  #wait(
    id: RequestId,
    waitMs: number,
    { present, signal, space }: WaitsBy & { readonly present: boolean },
    isOver: (state: State) => boolean,
  ): Promise<void> {
    if (!isOpen(this.#mode) || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const until = after(this.#environment.now(), waitMs);
      const end = (): void => {
        cancel();
        remove();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#environment.wakeAt(until, end);
      const remove = this.#waits.add(id, { until, present, space, end });
      signal?.addEventListener("abort", end);
      // What the caller waits for may be in a commit that is already made.
      this.read((state) => isOver(state) && end()).catch(end);
    });
  }

  /**
   * On standby: applies what another server has committed since, and tells all listeners. Rejects
   * with `JournalUnavailable` if the journal is not readable. Has no effect in any other mode.
   */
  async follow(): Promise<void> {
    while (this.#busy !== null) await this.#busy;
    return this.#following.run();
  }

  /**
   * On standby: applies all commits and leads, with a full ttl for every holder. Call it only while no
   * other server can write. Rejects as `follow` does, and stays on standby then.
   */
  async lead(): Promise<void> {
    await this.follow();
    if (!isStandby(this.#mode)) return;
    this.#environment.startOver(this.#memory.lastAt);
    this.#pauses.watchTtls(this.#memory.state);
    this.#memory.assumeSnapshot(Math.floor(this.#options.snapshotEveryEvents / 2));
    this.#change({ type: "took-over" });
    this.#giveGrace(); // At once, so that nobody reads a lease without a deadline.
    this.#schedule();
  }

  /** This broker may decide again: see `mayDecide`. */
  resume(): void {
    this.#schedule();
  }

  /**
   * Leaves the lead to another server: decides what is queued if it still may, then rejects commands
   * with `NotLeader` until `lead` is called.
   */
  async stepDown(cause: Error): Promise<void> {
    const mayGoOn = () => isWritable(this.#mode) && this.#options.mayDecide();
    while (this.#busy !== null || (this.#queue.length > 0 && mayGoOn())) {
      if (this.#busy === null) this.#turn();
      await this.#busy;
    }
    if (this.#mode.type === "stopped" || isStandby(this.#mode)) return;
    this.#change({ type: "stepped-down", cause, readable: isReadable(this.#mode) });
    this.#alarm.clear();
    this.#queue.rejectAll(this.#refusal());
    this.#waits.endAll();
  }

  /** Clients can reach the server from now on. Each gets a full ttl, and then deadlines count. */
  startExpiry(): void {
    if (this.#expires) return;
    this.#expires = true;
    this.#pauses.giveGraceToAll();
    this.#schedule();
  }

  /** Decides every submitted command, takes a snapshot, and stops. The journal stays open. */
  async close(): Promise<void> {
    this.#change({ type: "close-requested" });
    this.#waits.endAll();
    while (this.#queue.length > 0 || this.#busy !== null) {
      if (this.#busy === null) this.#turn();
      await this.#busy;
    }
    await this.#following.idle();
    this.#alarm.clear();
    this.#pauses.stop();
    const needsSnapshot = isWritable(this.#mode) && this.#memory.hasNewEvents;
    this.#change({ type: "closed", cause: closed(null) });
    if (needsSnapshot) await this.#lastSnapshot();
  }

  /** Every event is in the journal: without it only the next start takes longer. */
  async #lastSnapshot(): Promise<void> {
    try {
      await this.#snapshot();
    } catch (cause) {
      if (!(cause instanceof JournalUnavailable)) throw cause;
    }
  }

  /** The only place where the mode changes. */
  #change(change: ModeChange): void {
    const before = this.#mode;
    this.#mode = modeAfter(before, change);
    if (this.#mode.type === "stopped") return;
    if (isWritable(before) !== isWritable(this.#mode)) this.#listeners.writable(this.unwritable);
  }

  #schedule(): void {
    if (this.#scheduled || this.#busy !== null) return;
    this.#scheduled = true;
    this.#environment.soon(() => {
      this.#scheduled = false;
      if (this.#busy === null) this.#turn();
    });
  }

  /**
   * Decides one batch: the queued commands and the deadlines that have passed. A command that arrived
   * ahead of a deadline is decided ahead of it, even if a slow commit delayed the turn. So a heartbeat
   * or a release that arrived in time counts as in time.
   */
  #turn(): void {
    if (this.#mode.type === "stopped" || isStandby(this.#mode) || !isReadable(this.#mode)) {
      return this.#queue.rejectAll(this.#refusal());
    }
    if (!this.#options.mayDecide()) {
      // Somebody else may lead soon. What waits is decided after `resume`, or rejected.
      if (!isOpen(this.#mode)) this.#queue.rejectAll(notLeader(null));
      return;
    }
    const now = this.#environment.now();
    const grace = this.#pauses.take(now);
    if (grace !== undefined) this.#giveGrace(grace);
    if (this.#setAside !== null && isWritable(this.#mode)) {
      this.#busy = this.#commitSetAside(this.#setAside, now);
      return;
    }
    const batch = this.#queue.takeBatch();
    const events: DurableEvent[] = [];
    const answers: Answer[] = [];
    let deciding = tick;
    try {
      if (this.#isDue(now, batch[0])) this.#decide(tick, now, events);
      for (const { command, from } of batch) {
        deciding = command;
        const decidable = isWritable(this.#mode) || isVolatile(command);
        answers.push(decidable ? this.#decide(command, now, events, from) : undecided);
      }
      deciding = tick;
      if (this.#isDue(now, this.#queue.first)) this.#decide(tick, now, events);
    } catch (cause) {
      this.#busy = this.#afterBug(deciding, cause, batch, answers.length);
      return;
    }
    if (events.length > 0) {
      this.#busy = this.#commit(now, events, batch, answers);
    } else {
      this.#answer(batch, answers);
      this.#scheduleNext();
    }
  }

  /**
   * Whether a deadline has passed that is not later than the arrival of the next command. While the
   * journal is not writable, no deadline counts: the broker could not record that the lease ended.
   */
  #isDue(now: Instant, next: QueuedCommand | undefined): boolean {
    const dueAt = nextDueAt(this.#memory.state);
    if (!this.#expires || !isWritable(this.#mode)) return false;
    if (dueAt === undefined || dueAt > now) return false;
    return next === undefined || next.arrivedAt >= dueAt;
  }

  #decide(command: Command, now: Instant, events: DurableEvent[], from?: Origin): Outcome {
    const decision = decide(this.#memory.state, command, now);
    const { events: decided, outcome } = decision;
    let index = 0;
    for (const event of decided) {
      const isBy = from !== undefined && isOwn(decision, index++);
      if (isDurable(event)) events.push(isBy ? { ...event, from } : event);
      if (event.type === "lease-granted" || event.type === "request-queued") {
        this.#pauses.watchTtls(this.#memory.state, event.id);
      }
    }
    if (outcome.type === "waiting") this.#keepPresent(outcome.request.id, now);
    return outcome;
  }

  /** A request counts as polled until its long poll ends, whatever shorter time the client asks for. */
  #keepPresent(id: RequestId, now: Instant): void {
    const until = this.#waits.presentUntil(id);
    if (until === undefined || until <= now) return;
    decide(this.#memory.state, { type: "keep-waiting", id, waitMs: until - now }, now);
  }

  async #commit(
    at: Instant,
    events: readonly DurableEvent[],
    batch: readonly QueuedCommand[],
    answers: readonly Answer[],
  ): Promise<void> {
    try {
      const recorded = await this.#memory.append(at, events);
      this.#answer(batch, answers);
      this.#publish(recorded);
      if (this.#isSnapshotDue()) await this.#snapshot();
    } catch (cause) {
      await this.#afterFailure(asError(cause), batch);
    }
    this.#busy = null;
    this.#scheduleNext();
  }

  #answer(batch: readonly QueuedCommand[], answers: readonly Answer[]): void {
    let index = 0;
    for (const queued of batch) {
      const answer = answers[index++] ?? undecided;
      if (answer === undecided) queued.reject(this.#refusal());
      else queued.resolve(answer);
    }
  }

  /** The reason why this mode decides no commands. */
  #refusal(): Error {
    if (this.#mode.type === "stopped") return closed(this.#mode.cause);
    if (isStandby(this.#mode)) return notLeader(this.unwritable);
    const message =
      "Cannot write the journal: no lease can be granted or released until it is writable again";
    const { unwritable: cause } = this;
    const hint = cause instanceof JournalUnavailable ? cause.hint : undefined;
    return new JournalUnavailable(message, {
      cause,
      ...(hint === undefined ? undefined : { hint }),
    });
  }

  #publish(recorded: Recorded): void {
    this.#listeners.committed(recorded, this.#memory.state);
    for (const event of recorded.events) this.#waits.endWith(event);
  }

  /** Schedules a turn for the queued commands, or else an alarm for the next deadline. */
  #scheduleNext(): void {
    const isBlocked = this.#setAside !== null && isWritable(this.#mode);
    if (this.#queue.length > 0 || this.#pauses.isGraceForAllDue || isBlocked)
      return this.#schedule();
    const dueAt = nextDueAt(this.#memory.state);
    const canExpire = this.#expires && isWritable(this.#mode);
    if (dueAt !== undefined && canExpire) this.#alarm.set(dueAt);
  }

  #isSnapshotDue(): boolean {
    const { snapshotEveryEvents, journalBytesMax } = this.#options;
    return this.#memory.isSnapshotDue(snapshotEveryEvents, journalBytesMax / 4);
  }

  async #snapshot(): Promise<void> {
    const at = this.#environment.now();
    await this.#memory.saveSnapshot(at);
    if (!isOpen(this.#mode)) return;
    const { retentionMs, journalBytesMax: bytesMax } = this.#options;
    const limits = { before: after(at, -retentionMs), bytesMax };
    void this.#listeners.pruneBehind(this.#journal, limits, () => isOpen(this.#mode));
  }

  async #afterFailure(cause: Error, batch: readonly QueuedCommand[]): Promise<void> {
    if (cause instanceof JournalConflict) return await this.#afterConflict(cause, batch);
    const head = this.head;
    this.#change({ type: "commit-failed", cause });
    await this.#reload();
    // Memory is again what the journal says, and has nothing new: the commit was not made.
    const isSure = isReadable(this.#mode) && this.head === head;
    for (const queued of batch) queued.reject(isSure ? this.#refusal() : outcomeUnknown(cause));
    this.#probeLater();
  }

  /** The server decides through `onConflict` what a second writer means. */
  async #afterConflict(cause: JournalConflict, batch: readonly QueuedCommand[]): Promise<void> {
    const stepDown = this.#options.onConflict(cause) === "step-down";
    // Memory has events that were not committed.
    if (stepDown) this.#change({ type: "stepped-down", cause, readable: false });
    else this.#stop(cause);
    for (const queued of batch) queued.reject(this.#refusal());
    if (stepDown) this.#waits.endAll();
    else await this.#reload();
  }

  /** A decision threw, so the state may be half changed. Reloads it and rejects only that command. */
  async #afterBug(
    command: Command,
    cause: unknown,
    batch: readonly QueuedCommand[],
    index: number,
  ): Promise<void> {
    this.#listeners.failed(`the decision on "${command.type}"`, cause);
    if (cause instanceof Undecidable && cause.culprit.pools.length > 0) {
      this.#setAside = this.#failedDecisions.setAside(cause, this.#environment.now());
      this.#queue.requeue(batch);
    } else if (command.type === "tick") {
      for (const queued of batch) queued.reject(asError(cause));
      this.#stop(asError(cause));
    } else {
      batch[index]?.reject(asError(cause));
      this.#queue.requeue(batch.filter((_, position) => position !== index));
    }
    await this.#reload();
    this.#busy = null;
    this.#scheduleNext();
  }

  /** Decided and committed alone, so that a further failure does not undo it. */
  async #commitSetAside(command: SetAside, now: Instant): Promise<void> {
    const events: DurableEvent[] = [];
    this.#setAside = null;
    try {
      this.#decide(command, now, events);
    } catch (cause) {
      this.#listeners.failed(`the decision on "${command.type}"`, cause);
      const { request, ...pools } = command;
      if (request === undefined) this.#stop(asError(cause));
      else this.#setAside = pools;
      await this.#reload();
      this.#busy = null;
      return this.#scheduleNext();
    }
    await this.#commit(now, events, [], []);
  }

  /** Stops for good, because memory and the journal cannot be reconciled. */
  #stop(cause: Error): void {
    this.#change({ type: "fatal-error", cause });
    this.#listeners.fatal(cause);
  }

  async #catchUp(): Promise<void> {
    if (!isStandby(this.#mode)) return;
    if (!isReadable(this.#mode)) return this.#loadAnew();
    try {
      for await (const recorded of this.#memory.unread()) {
        if (!isStandby(this.#mode)) return;
        this.#memory.applyCommit(recorded);
        this.#publish(recorded);
      }
    } catch (cause) {
      if (cause instanceof JournalUnavailable) throw cause;
      // This server was away for so long that events were pruned; or the state is half changed.
      this.#change({ type: "reload-failed", cause: asError(cause) });
      await this.#loadAnew();
    }
  }

  async #loadAnew(): Promise<void> {
    try {
      await this.#load();
    } catch (cause) {
      if (!(cause instanceof JournalUnavailable)) this.#stop(asError(cause));
      throw cause;
    }
  }

  async #load(): Promise<void> {
    const isComplete = await this.#memory.reload((recorded) => this.#publish(recorded));
    if (!isComplete) this.#waits.endAll(); // Nobody can tell what they waited for.
    this.#change({ type: "reloaded" });
  }

  /** Replaces memory with the state from the journal. If the journal is not readable, probes follow. */
  async #reload(): Promise<void> {
    try {
      await this.#load();
      this.#giveGrace();
    } catch (cause) {
      if (!(cause instanceof JournalUnavailable)) return this.#stop(asError(cause));
      this.#change({ type: "reload-failed", cause });
      this.#probeLater();
    }
  }

  /** The journal contains neither the last heartbeats nor the open long polls, so both are renewed. */
  #giveGrace(grace: Grace = {}): void {
    this.#pauses.forget();
    const now = this.#environment.now();
    decide(this.#memory.state, { type: "give-grace", ...grace }, now);
    for (const id of this.#waits.ids()) this.#keepPresent(id, now);
  }

  #probeLater(): void {
    if (this.#probeSet || !this.#needsProbe()) return;
    this.#probeSet = true;
    const at = after(this.#environment.now(), this.#options.probeEveryMs);
    this.#environment.wakeAt(at, () => {
      this.#probeSet = false;
      this.#probeSoon();
    });
  }

  #probeSoon(): void {
    if (!this.#needsProbe()) return;
    if (this.#busy === null) this.#busy = this.#probe();
    else this.#probeLater();
  }

  #needsProbe(): boolean {
    return this.#mode.type === "read-only" || this.#mode.type === "unreadable";
  }

  /** Checks whether the journal is readable and writable again. */
  async #probe(): Promise<void> {
    if (!isReadable(this.#mode)) await this.#reload();
    if (this.#mode.type === "read-only") {
      try {
        await this.#memory.probe(this.#environment.now());
        this.#change({ type: "probe-committed" });
        this.#pauses.giveGraceToAll(); // The broker rejected the polls of waiting clients meanwhile.
      } catch (cause) {
        if (cause instanceof JournalConflict) await this.#afterConflict(cause, []);
      }
    }
    this.#probeLater();
    this.#busy = null;
    this.#schedule();
  }
}

const tick: Command = { type: "tick" };

function outcomeUnknown(cause: Error): OutcomeUnknown {
  const hint = cause instanceof JournalUnavailable ? cause.hint : undefined;
  return new OutcomeUnknown("Cannot tell the outcome: the journal failed during the commit", {
    cause,
    ...(hint === undefined ? undefined : { hint }),
  });
}

function notLeader(cause: Error | null): NotLeader {
  return new NotLeader("Cannot decide: another server leads", { cause });
}

function startedOnStandby(): BrokerMode {
  return { type: "standby", cause: new Error("This server does not lead yet"), readable: true };
}

function closed(cause: Error | null): BrokerClosed {
  return new BrokerClosed("Cannot decide: the broker is closed", { cause });
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
