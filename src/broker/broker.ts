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
import {
  BrokerClosed,
  type BrokerListener,
  type BrokerOptions,
  BrokerOverloaded,
  defaultBrokerOptions,
} from "./broker-contract.ts";
import type { Environment } from "./environment.ts";
import { recover } from "./recovery.ts";
import { Waits } from "./waits.ts";

/** Commands decided and committed together at the most; it bounds how long one turn takes. */
const batchMax = 4_096;
const watchdogMs = 500;

interface Pending {
  readonly command: Command;
  readonly arrivedAt: Instant;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

export class Broker {
  readonly #journal: Journal;
  readonly #environment: Environment;
  readonly #options: BrokerOptions;
  readonly #listeners = new Set<BrokerListener>();
  readonly #waits = new Waits();
  #state: State;
  #head: number;
  #snapshotSeq: number;
  #pending: Pending[] = [];
  #scheduled = false;
  /** The commit or recovery under way. Never rejects. Null: memory is what the journal says. */
  #busy: Promise<void> | null = null;
  #unwritable: Error | null = null;
  /** Memory has run ahead of the journal, and the journal cannot be read: nothing is known. */
  #lost = false;
  /** Takes no more commands. */
  #closed = false;
  /** Writes no more: it has stopped, or must not go on. */
  #ended: Error | null = null;
  #graceDue = false;
  #pruning = false;
  #probing = false;
  #aliveAt: Instant;
  #armedFor = Number.POSITIVE_INFINITY;
  #disarm = () => {};
  #stopWatchdog = () => {};

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
    this.#aliveAt = environment.now();
    this.#giveGrace();
    this.#watch();
    this.#schedule();
  }

  get head(): number {
    return this.#head;
  }

  /** Null while the journal can be written. */
  get unwritable(): Error | null {
    return this.#unwritable;
  }

  /** Why it takes no more commands and never will; null while it does. */
  get ended(): Error | null {
    return this.#ended;
  }

  /** How many connections are held open. */
  get openWaits(): number {
    return this.#waits.size;
  }

  now(): Instant {
    return this.#environment.now();
  }

  listen(listener: BrokerListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves once what was decided is durable. Rejects with `JournalUnavailable`, `BrokerOverloaded`
   * or `BrokerClosed`; then nothing has happened, or (if a disk failed in the middle) a repetition
   * with the same request id finds out.
   */
  submit(command: Command): Promise<Outcome> {
    if (this.#closed)
      return Promise.reject(new BrokerClosed("Cannot decide: the broker is closed"));
    if (this.#pending.length >= this.#options.pendingMax) {
      const message = `Cannot decide: ${this.#options.pendingMax} commands are waiting to be`;
      return Promise.reject(new BrokerOverloaded(message));
    }
    return new Promise((resolve, reject) => {
      this.#pending.push({ command, arrivedAt: this.#environment.now(), resolve, reject });
      this.#schedule();
    });
  }

  /** Reads from a state of which every part is durable. Rejects with `JournalUnavailable` if there is none. */
  async look<T>(read: (state: State, now: Instant) => T): Promise<T> {
    while (this.#busy !== null) await this.#busy;
    if (this.#lost) throw this.#unavailable();
    return read(this.#state, this.#environment.now());
  }

  /** Whether somebody listens for the fate of this request. */
  isAwaited(id: RequestId): boolean {
    return this.#waits.has(id);
  }

  /**
   * Resolves when the request no longer waits, when time is up, when the signal aborts, at the end.
   * `present`: it is the one who asked that listens.
   */
  untilSettled(
    id: RequestId,
    waitMs: number,
    { present, signal }: { present: boolean; signal?: AbortSignal },
  ): Promise<void> {
    if (this.#closed || signal?.aborted) return Promise.resolve();
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

  /** Finishes what has been submitted, takes a snapshot, and stops. The journal stays open. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#waits.tellAll();
    while (this.#pending.length > 0 || this.#busy !== null) {
      if (this.#busy === null) this.#turn();
      await this.#busy;
    }
    this.#disarm();
    this.#stopWatchdog();
    const worthIt = this.#ended === null && this.#unwritable === null;
    this.#ended ??= new BrokerClosed("Cannot decide: the broker is closed");
    if (worthIt && this.#head > this.#snapshotSeq) await this.#snapshot();
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
    if (this.#ended !== null) return this.#refuseAll(this.#ended);
    if (this.#lost) return this.#refuseAll(this.#unavailable());
    const now = this.#environment.now();
    this.#noticeStall(now);
    if (this.#graceDue) this.#giveGrace();
    const batch = this.#take();
    const events: DurableEvent[] = [];
    const outcomes: Outcome[] = [];
    let deciding = tick;
    try {
      if (this.#isDue(now, batch[0])) this.#decide(tick, now, events);
      for (const { command } of batch) {
        deciding = command;
        const refusal = this.#unwritable !== null && !isVolatile(command);
        outcomes.push(refusal ? unanswered : this.#decide(command, now, events));
      }
      deciding = tick;
      if (this.#isDue(now, this.#pending[0])) this.#decide(tick, now, events);
    } catch (cause) {
      this.#busy = this.#afterBug(deciding, cause, batch, outcomes.length);
      return;
    }
    if (events.length > 0) {
      this.#busy = this.#commit(now, events, batch, outcomes);
    } else {
      this.#answer(batch, outcomes);
      this.#rest();
    }
  }

  /** Whether something is due before the next command came. Nothing ends that cannot be written down. */
  #isDue(now: Instant, next: Pending | undefined): boolean {
    const dueAt = nextDueAt(this.#state);
    if (this.#unwritable !== null || dueAt === undefined || dueAt > now) return false;
    return next === undefined || next.arrivedAt >= dueAt;
  }

  #take(): readonly Pending[] {
    const taken =
      this.#pending.length <= batchMax ? this.#pending : this.#pending.slice(0, batchMax);
    this.#pending = this.#pending.slice(taken.length);
    return taken;
  }

  #refuseAll(cause: Error): void {
    const refused = this.#pending;
    this.#pending = [];
    for (const pending of refused) pending.reject(cause);
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
    outcomes: readonly Outcome[],
  ): Promise<void> {
    try {
      const seq = this.#head + 1;
      this.#head = await this.#journal.append(this.#head, at, events);
      this.#answer(batch, outcomes);
      this.#tell({ seq, at, events });
      if (this.#head - this.#snapshotSeq >= this.#options.snapshotEveryEvents)
        await this.#snapshot();
    } catch (cause) {
      await this.#afterFailure(asError(cause), batch);
    }
    this.#busy = null;
    this.#rest();
  }

  #answer(batch: readonly Pending[], outcomes: readonly Outcome[]): void {
    let index = 0;
    for (const pending of batch) {
      const outcome = outcomes[index++] ?? unanswered;
      if (outcome === unanswered) pending.reject(this.#unavailable());
      else pending.resolve(outcome);
    }
  }

  #unavailable(): JournalUnavailable {
    const message =
      "Cannot write the journal: nothing can be lent or given back until it works again";
    return new JournalUnavailable(message, { cause: this.#unwritable });
  }

  #tell(recorded: Recorded): void {
    for (const listener of this.#listeners) {
      try {
        listener.committed?.(recorded, this.#state);
      } catch (cause) {
        this.#failed("a follower of the journal", cause);
      }
    }
    for (const event of recorded.events) {
      if (event.type === "lease-granted" || event.type === "request-left")
        this.#waits.tell(event.id);
    }
  }

  #failed(what: string, cause: unknown): void {
    for (const listener of this.#listeners) listener.failed?.(what, cause);
  }

  /** Goes on with what has collected, or sleeps until something is due. */
  #rest(): void {
    if (this.#pending.length > 0) return this.#schedule();
    if (this.#ended !== null) return;
    const dueAt = nextDueAt(this.#state);
    if (dueAt === undefined || dueAt >= this.#armedFor || this.#unwritable !== null) return;
    this.#disarm();
    this.#armedFor = dueAt;
    this.#disarm = this.#environment.wakeAt(dueAt, () => {
      this.#armedFor = Number.POSITIVE_INFINITY;
      this.#schedule();
    });
  }

  async #snapshot(): Promise<void> {
    const at = this.#environment.now();
    const seq = this.#head;
    // Counted as taken even if it fails: the next try is a whole interval away, not in every commit.
    this.#snapshotSeq = seq;
    await this.#journal.saveSnapshot({ seq, at, state: JSON.stringify(freeze(this.#state)) });
    if (!this.#closed) void this.#prune(after(at, -this.#options.retentionMs));
  }

  /**
   * Beside the commits, which have their turn in between, and behind those who follow the journal.
   * What is not pruned now is the next time.
   */
  async #prune(before: Instant): Promise<void> {
    if (this.#pruning) return;
    this.#pruning = true;
    try {
      await Promise.all(Array.from(this.#listeners, (listener) => listener.caughtUp?.()));
      if (!this.#closed) await this.#journal.prune(before);
    } catch (cause) {
      this.#failed("pruning the journal", cause);
    }
    this.#pruning = false;
  }

  async #afterFailure(cause: Error, batch: readonly Pending[]): Promise<void> {
    if (cause instanceof JournalConflict) this.#end(cause);
    this.#unwritable = cause;
    for (const pending of batch) pending.reject(this.#unavailable());
    for (const listener of this.#listeners) listener.writable?.(cause);
    await this.#readBack();
    this.#probeLater();
  }

  /** A decision threw. The state may be half changed: read it back, and refuse only that command. */
  async #afterBug(
    command: Command,
    cause: unknown,
    batch: readonly Pending[],
    index: number,
  ): Promise<void> {
    this.#failed(`the decision on "${command.type}"`, cause);
    if (command.type === "tick") {
      for (const pending of batch) pending.reject(asError(cause));
      this.#end(asError(cause));
    } else {
      batch[index]?.reject(asError(cause));
      this.#pending = [...batch.filter((_, place) => place !== index), ...this.#pending];
    }
    await this.#readBack();
    this.#busy = null;
    this.#rest();
  }

  /** It must not go on: what it believes and what the journal says cannot be reconciled. */
  #end(cause: Error): void {
    this.#closed = true;
    this.#ended = cause;
    for (const listener of this.#listeners) listener.fatal?.(cause);
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
      this.#lost = false;
      this.#giveGrace();
    } catch (cause) {
      if (!(cause instanceof JournalUnavailable)) return this.#end(asError(cause));
      this.#lost = true;
      this.#unwritable ??= cause;
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
    if (this.#probing || this.#ended !== null || this.#closed) return;
    this.#probing = true;
    const at = after(this.#environment.now(), this.#options.probeEveryMs);
    this.#environment.wakeAt(at, () => {
      this.#probing = false;
      if (this.#busy === null) this.#busy = this.#probe();
      else this.#probeLater();
    });
  }

  async #probe(): Promise<void> {
    if (this.#lost) await this.#readBack();
    try {
      if (this.#lost || this.#ended !== null) throw this.#unavailable();
      await this.#journal.append(this.#head, this.#environment.now(), []);
      this.#unwritable = null;
      this.#graceDue = true; // Those who come again and again were turned away meanwhile.
      for (const listener of this.#listeners) listener.writable?.(null);
    } catch (cause) {
      if (cause instanceof JournalConflict) this.#end(cause);
      this.#probeLater();
    }
    this.#busy = null;
    this.#schedule();
  }

  /** Time in which the broker could not listen does not count against those who spoke. */
  #noticeStall(now: Instant): void {
    if (now - this.#aliveAt > this.#options.stallMs) this.#graceDue = true;
    this.#aliveAt = now;
  }

  #watch(): void {
    const at = after(this.#environment.now(), watchdogMs);
    this.#stopWatchdog = this.#environment.wakeAt(at, () => {
      this.#noticeStall(this.#environment.now());
      if (this.#graceDue) this.#schedule();
      this.#watch();
    });
  }
}

const tick: Command = { type: "tick" };

/** Stands for "no journal, no answer" in a batch. */
const unanswered: Outcome = { type: "done" };

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
