/**
 * The only shell around the core: it orders commands, decides each against memory, makes the events
 * of the whole batch durable in one commit, and only then answers. While one commit is under way the
 * next batch collects, so durability costs one sync per batch, not per request.
 *
 * Between commits memory is exactly what the journal says. If a commit fails, memory has run ahead
 * of it and is thrown away: the state is read back from the journal, as after a crash. There is one
 * way to recover, and it is used often enough to be trusted.
 */

import { freeze } from "../core/apply/snapshot.ts";
import { decide, isVolatile, nextDueAt } from "../core/decide/decide.ts";
import type { Command } from "../core/model/command.ts";
import { type DurableEvent, isDurable } from "../core/model/event.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { State } from "../core/model/state.ts";
import { after, type Instant } from "../core/model/time.ts";
import {
  type Journal,
  JournalConflict,
  JournalUnavailable,
  type Recorded,
} from "../journal/journal.ts";
import { Alarm } from "./alarm.ts";
import {
  BrokerClosed,
  type BrokerListener,
  type BrokerOptions,
  defaultBrokerOptions,
  NotLeader,
} from "./broker-contract.ts";
import {
  type BrokerMode,
  isOpen,
  isReadable,
  isWritable,
  leading,
  type ModeChange,
  modeAfter,
  servingIn,
} from "./broker-mode.ts";
import { CommandQueue, type Pending } from "./command-queue.ts";
import type { Environment } from "./environment.ts";
import { Listeners } from "./listeners.ts";
import { recover } from "./recovery.ts";
import { StallWatch } from "./stall-watch.ts";
import { Waits } from "./waits.ts";

/** In the place of an outcome: the command was not decided, because the journal cannot be written. */
const undecided = Symbol("undecided");
type Answer = Outcome | typeof undecided;

/**
 * The broker is in one mode at a time (`broker-mode.ts`):
 *
 *   open
 *     │
 *     ▼       a commit fails             reading back fails
 *   leading ─────────────────▶ read-only ─────────────────▶ unreadable ◀───┐
 *     ▲                        │   ▲                        │   ▲          │
 *     └────────────────────────┘   └────────────────────────┘   │ lead()   │ reading back fails
 *          a probe is written             it is read back       │          │ after a bug
 *                                                               │        leading
 *   leading, read-only ── another has written: step-down ──▶ standby
 *   leading, read-only ── another has written: end ──────▶ ended
 *   any ── a tick throws, or the journal contradicts itself ──▶ ended
 *   any ── close() ──▶ closing ── all that was submitted is answered ──▶ ended
 *
 *   mode         commands                         reads   falls due   probes
 *   leading      decided and committed            yes     yes         no
 *   read-only    heartbeats; JournalUnavailable   yes     no          yes
 *   unreadable   JournalUnavailable               no      no          yes
 *   standby      NotLeader                        no      no          no
 *   closing      as before, but BrokerClosed for what comes now       no
 *   ended        BrokerClosed                     (1)     no          no
 *
 *   (1) If memory is what the journal says, as it is after `close`.
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
  readonly #stallWatch: StallWatch;
  #mode: BrokerMode = leading;
  #state: State;
  #head: number;
  #snapshotSeq: number;
  #scheduled = false;
  /** The commit, reading back or probe under way. Never rejects. */
  #busy: Promise<void> | null = null;
  /** Everybody gets a full ttl before the next decision. */
  #graceDue = false;
  #probeSet = false;

  /** Reads the journal, gives every holder one full ttl of grace, and is ready. */
  static async open(
    journal: Journal,
    makeEnvironment: (notBefore: Instant) => Environment,
    options: Partial<BrokerOptions> = {},
  ): Promise<Broker> {
    const { state, head, at, replayed } = await recover(journal);
    return new Broker(
      journal,
      makeEnvironment(at),
      { ...defaultBrokerOptions, ...options },
      {
        state,
        head,
        snapshotSeq: head - replayed,
      },
    );
  }

  private constructor(
    journal: Journal,
    environment: Environment,
    options: BrokerOptions,
    memory: { state: State; head: number; snapshotSeq: number },
  ) {
    this.#journal = journal;
    this.#environment = environment;
    this.#options = options;
    this.#state = memory.state;
    this.#head = memory.head;
    this.#snapshotSeq = memory.snapshotSeq;
    this.#queue = new CommandQueue(options.pendingMax);
    this.#alarm = new Alarm(environment, () => this.#schedule());
    this.#stallWatch = new StallWatch(environment, options.stallMs, () => {
      this.#graceDue = true;
      this.#schedule();
    });
    this.#giveGrace();
    this.#schedule();
  }

  get head(): number {
    return this.#head;
  }

  get mode(): BrokerMode["type"] {
    return this.#mode.type;
  }

  /** Why the journal cannot be written by this broker; null while it can. */
  get unwritable(): Error | null {
    if (this.#mode.type === "ended") return this.#mode.cause;
    const serving = servingIn(this.#mode);
    return serving.type === "leading" ? null : serving.cause;
  }

  /** Why it takes no more commands and never will; null while it does. */
  get ended(): Error | null {
    return this.#mode.type === "ended" ? this.#mode.cause : null;
  }

  /** How many connections are held open. */
  get openWaits(): number {
    return this.#waits.size;
  }

  now(): Instant {
    return this.#environment.now();
  }

  listen(listener: BrokerListener): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Resolves once what was decided is durable. Rejects with `JournalUnavailable`, `NotLeader`,
   * `BrokerOverloaded` or `BrokerClosed`; then nothing has happened, or (if a disk failed in the
   * middle) a repetition with the same request id finds out.
   */
  submit(command: Command): Promise<Outcome> {
    if (!isOpen(this.#mode)) return Promise.reject(closed(this.ended));
    const outcome = this.#queue.add(command, this.#environment.now());
    this.#schedule();
    return outcome;
  }

  /** Reads from a state of which every part is durable. Rejects as `submit` does if there is none. */
  async look<T>(read: (state: State, now: Instant) => T): Promise<T> {
    while (this.#busy !== null) await this.#busy;
    if (!isReadable(this.#mode)) throw this.#refusal();
    return read(this.#state, this.#environment.now());
  }

  /** Whether somebody listens for the fate of this request. */
  isAwaited(id: RequestId): boolean {
    return this.#waits.has(id);
  }

  /**
   * Resolves when the request no longer waits, when time is up, when the signal aborts, when this
   * broker no longer serves. `present`: it is the one who asked that listens.
   */
  untilSettled(
    id: RequestId,
    waitMs: number,
    { present, signal }: { present: boolean; signal?: AbortSignal },
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
      const remove = this.#waits.add(id, { until, present, end });
      signal?.addEventListener("abort", end);
      // It may have been granted in the very commit that also answered the one who asks now.
      this.look((state) => state.requests.has(id) || end()).catch(end);
    });
  }

  /** On standby: takes the lead, from what the journal says by now. Otherwise nothing happens. */
  lead(): void {
    if (this.#mode.type !== "standby") return;
    this.#change({ type: "told-to-lead" });
    this.#probeSoon();
  }

  /** Finishes what has been submitted, takes a snapshot, and stops. The journal stays open. */
  async close(): Promise<void> {
    this.#change({ type: "told-to-close" });
    this.#waits.endAll();
    while (this.#queue.length > 0 || this.#busy !== null) {
      if (this.#busy === null) this.#turn();
      await this.#busy;
    }
    this.#alarm.clear();
    this.#stallWatch.stop();
    const worthIt = isWritable(this.#mode) && this.#head > this.#snapshotSeq;
    this.#change({ type: "closed", cause: closed(null) });
    if (worthIt) await this.#snapshot();
  }

  /** The only place where the mode changes. */
  #change(change: ModeChange): void {
    const before = this.#mode;
    this.#mode = modeAfter(before, change);
    if (this.#mode.type === "ended") return;
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
   * One batch: what was asked and what is due. What came before something was due comes first, however
   * long the commit before it took: a heartbeat or a release that was in time is in time.
   */
  #turn(): void {
    if (this.#mode.type === "ended" || !isReadable(this.#mode)) {
      return this.#queue.refuseAll(this.#refusal());
    }
    const now = this.#environment.now();
    this.#stallWatch.look(now);
    if (this.#graceDue) this.#giveGrace();
    const batch = this.#queue.take();
    const events: DurableEvent[] = [];
    const answers: Answer[] = [];
    let deciding = tick;
    try {
      if (this.#isDue(now, batch[0])) this.#decide(tick, now, events);
      for (const { command } of batch) {
        deciding = command;
        const decidable = isWritable(this.#mode) || isVolatile(command);
        answers.push(decidable ? this.#decide(command, now, events) : undecided);
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
      this.#rest();
    }
  }

  /** Whether something is due before the next command came. Nothing ends that cannot be written down. */
  #isDue(now: Instant, next: Pending | undefined): boolean {
    const dueAt = nextDueAt(this.#state);
    if (!isWritable(this.#mode) || dueAt === undefined || dueAt > now) return false;
    return next === undefined || next.arrivedAt >= dueAt;
  }

  #decide(command: Command, now: Instant, events: DurableEvent[]): Outcome {
    const { events: found, outcome } = decide(this.#state, command, now);
    for (const event of found) if (isDurable(event)) events.push(event);
    if (outcome.type === "waiting") this.#keepPresent(outcome.request.id, now);
    return outcome;
  }

  /** Whatever else its client says, one that listens on an open connection is present till its end. */
  #keepPresent(id: RequestId, now: Instant): void {
    const until = this.#waits.presentUntil(id);
    if (until === undefined || until <= now) return;
    decide(this.#state, { type: "keep-waiting", id, waitMs: until - now }, now);
  }

  async #commit(
    at: Instant,
    events: readonly DurableEvent[],
    batch: readonly Pending[],
    answers: readonly Answer[],
  ): Promise<void> {
    try {
      const seq = this.#head + 1;
      this.#head = await this.#journal.append(this.#head, at, events);
      this.#answer(batch, answers);
      this.#tell({ seq, at, events });
      if (this.#head - this.#snapshotSeq >= this.#options.snapshotEveryEvents)
        await this.#snapshot();
    } catch (cause) {
      await this.#afterFailure(asError(cause), batch);
    }
    this.#busy = null;
    this.#rest();
  }

  #answer(batch: readonly Pending[], answers: readonly Answer[]): void {
    let index = 0;
    for (const pending of batch) {
      const answer = answers[index++] ?? undecided;
      if (answer === undecided) pending.reject(this.#refusal());
      else pending.resolve(answer);
    }
  }

  /** Why nothing is decided in this mode. */
  #refusal(): Error {
    if (this.#mode.type === "ended") return closed(this.#mode.cause);
    if (servingIn(this.#mode).type === "standby") {
      return new NotLeader("Cannot decide: another server leads", { cause: this.unwritable });
    }
    const message =
      "Cannot write the journal: nothing can be lent or given back until it works again";
    return new JournalUnavailable(message, { cause: this.unwritable });
  }

  #tell(recorded: Recorded): void {
    this.#listeners.committed(recorded, this.#state);
    for (const event of recorded.events) {
      if (event.type === "lease-granted" || event.type === "request-left")
        this.#waits.end(event.id);
    }
  }

  /** Goes on with what has collected, or sleeps until something is due. */
  #rest(): void {
    if (this.#queue.length > 0 || this.#graceDue) return this.#schedule();
    const dueAt = nextDueAt(this.#state);
    if (dueAt !== undefined && isWritable(this.#mode)) this.#alarm.set(dueAt);
  }

  async #snapshot(): Promise<void> {
    const at = this.#environment.now();
    const seq = this.#head;
    // Counted as taken even if it fails: the next try is a whole interval away, not in every commit.
    this.#snapshotSeq = seq;
    await this.#journal.saveSnapshot({ seq, at, state: JSON.stringify(freeze(this.#state)) });
    if (!isOpen(this.#mode)) return;
    const before = after(at, -this.#options.retentionMs);
    void this.#listeners.pruneBehind(this.#journal, before, () => isOpen(this.#mode));
  }

  async #afterFailure(cause: Error, batch: readonly Pending[]): Promise<void> {
    if (cause instanceof JournalConflict) return await this.#afterConflict(cause, batch);
    this.#change({ type: "commit-failed", cause });
    for (const pending of batch) pending.reject(this.#refusal());
    await this.#readBack();
    this.#probeLater();
  }

  /** Whoever composes the server knows what it means that another has written. */
  async #afterConflict(cause: JournalConflict, batch: readonly Pending[]): Promise<void> {
    const stepDown = this.#options.onConflict(cause) === "step-down";
    if (stepDown) this.#change({ type: "stepped-down", cause });
    else this.#end(cause);
    for (const pending of batch) pending.reject(this.#refusal());
    if (stepDown) this.#waits.endAll();
    else await this.#readBack();
  }

  /** A decision threw. The state may be half changed: read it back, and refuse only that command. */
  async #afterBug(
    command: Command,
    cause: unknown,
    batch: readonly Pending[],
    index: number,
  ): Promise<void> {
    this.#listeners.failed(`the decision on "${command.type}"`, cause);
    if (command.type === "tick") {
      for (const pending of batch) pending.reject(asError(cause));
      this.#end(asError(cause));
    } else {
      batch[index]?.reject(asError(cause));
      this.#queue.putBack(batch.filter((_, place) => place !== index));
    }
    await this.#readBack();
    this.#busy = null;
    this.#rest();
  }

  /** It must not go on: what it believes and what the journal says cannot be reconciled. */
  #end(cause: Error): void {
    this.#change({ type: "broke", cause });
    this.#listeners.fatal(cause);
  }

  /** Replaces memory by what the journal says, now or as soon as the journal can be read. */
  async #readBack(): Promise<void> {
    try {
      const { state, head } = await recover(this.#journal);
      // A commit that failed half-way may turn out to have been made: tell of it late, and once.
      for await (const recorded of this.#journal.read(this.#head)) {
        this.#head = recorded.seq + recorded.events.length - 1;
        this.#tell(recorded);
      }
      this.#state = state;
      this.#head = head;
      this.#change({ type: "read-back" });
      this.#giveGrace();
    } catch (cause) {
      if (!(cause instanceof JournalUnavailable)) return this.#end(asError(cause));
      this.#change({ type: "read-failed", cause });
      this.#probeLater();
    }
  }

  /** No journal knows who was heard of lately, nor who listens at this moment. */
  #giveGrace(): void {
    this.#graceDue = false;
    const now = this.#environment.now();
    decide(this.#state, { type: "give-grace" }, now);
    for (const id of this.#waits.ids()) this.#keepPresent(id, now);
  }

  #probeLater(): void {
    if (this.#probeSet || !this.#isToProbe()) return;
    this.#probeSet = true;
    const at = after(this.#environment.now(), this.#options.probeEveryMs);
    this.#environment.wakeAt(at, () => {
      this.#probeSet = false;
      this.#probeSoon();
    });
  }

  #probeSoon(): void {
    if (!this.#isToProbe()) return;
    if (this.#busy === null) this.#busy = this.#probe();
    else this.#probeLater();
  }

  #isToProbe(): boolean {
    return this.#mode.type === "read-only" || this.#mode.type === "unreadable";
  }

  /** Finds out whether the journal works again. */
  async #probe(): Promise<void> {
    if (!isReadable(this.#mode)) await this.#readBack();
    if (this.#mode.type === "read-only") {
      try {
        await this.#journal.append(this.#head, this.#environment.now(), []);
        this.#change({ type: "write-worked" });
        this.#graceDue = true; // Those who come again and again were turned away meanwhile.
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

function closed(cause: Error | null): BrokerClosed {
  return new BrokerClosed("Cannot decide: the broker is closed", { cause });
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
