/**
 * A server process in the simulated world: the real broker on the simulated disk, behind an edge
 * that checks tokens as the HTTP edge does. It can be killed, paused and started again.
 */
import { Broker } from "../src/broker/broker.ts";
import { type BrokerOptions, NotLeader } from "../src/broker/broker-contract.ts";
import type { Environment } from "../src/broker/environment.ts";
import { Tokens } from "../src/broker/lease-identity.ts";
import { Deliveries, submitAndWait, type WaitingBroker } from "../src/broker/submit-and-wait.ts";
import { followCohort } from "../src/core/apply/cohorts.ts";
import { edit } from "../src/core/apply/edit.ts";
import { forgetGatesBelow } from "../src/core/apply/indexes.ts";
import { scheduleRise } from "../src/core/apply/priorities.ts";
import { standing } from "../src/core/decide/acquire.ts";
import type { Ask, Command } from "../src/core/model/command.ts";
import type { RequestId, ResourceName } from "../src/core/model/ids.ts";
import type { Origin } from "../src/core/model/origin.ts";
import { idOf, type Outcome } from "../src/core/model/outcome.ts";
import { StarvingSpaces } from "../src/core/model/starving-spaces.ts";
import type { Bucket, Pool, State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import { type Journal, JournalUnavailable, type Recorded } from "../src/journal/journal.ts";
import { spoilClusters } from "./cluster-bugs.ts";
import { SavedTurns } from "./saved-turns.ts";
import type { World } from "./world.ts";

/** The calls of clients. The reply to an acquire contains the token; all other calls need it. */
export type Call =
  | {
      readonly type: "acquire";
      readonly ask: Ask;
      readonly waitMs: number;
      readonly nowOnly?: true;
    }
  | {
      readonly type: "poll" | "leave" | "renew" | "release";
      readonly id: RequestId;
      readonly token: string;
      readonly waitMs?: number;
    }
  /** As Boskos's clients ask: again and again with the same key, or once without one. */
  | { readonly type: "ask-by-name"; readonly ask: Ask; readonly waitMs: number }
  | {
      readonly type: "take-by-name";
      readonly holder: string;
      readonly resources: readonly ResourceName[];
      readonly state: string;
      readonly into: string;
    }
  | { readonly type: "operate"; readonly command: Command };

export type Reply =
  | {
      readonly type: "outcome";
      readonly outcome: Outcome;
      readonly token: string;
      /** The process that sent the reply. It learns whether the reply arrived. */
      readonly by?: number;
    }
  | { readonly type: "forbidden" }
  /** `notLeader`: it had no effect, because another server leads. */
  | { readonly type: "unavailable"; readonly notLeader?: boolean };

export interface EdgeBugs {
  /** Does not check the token. */
  readonly trustAnybody?: boolean;
  /** Confirms that a request left the queue, but keeps it there. */
  readonly keepLeavers?: boolean;
  /** Releases by the name of the resource, even if another lease has it now. */
  readonly ignoreFences?: boolean;
  /** Takes a polling client that asks again for a new client. */
  readonly forgetPollers?: boolean;
  /** Delivers a lease to a polling client and does not record it. */
  readonly forgetDelivery?: boolean;
  /** Releases by the name of the resource, without a check of the holder. */
  readonly trustNames?: boolean;
  /** Treats every admission check as a yes. */
  readonly admitAlways?: boolean;
  /** Ignores the paces of parent pools. */
  readonly ignoreSharedPaces?: boolean;
  /** The index of idle resources by label lists one that does not have the label. */
  readonly listWrongMatches?: boolean;
  /** Lends as if no space had a quota. */
  readonly ignoreQuotas?: boolean;
  /** Lends in the order of arrival, whatever the spaces hold. */
  readonly ignoreShares?: boolean;
  /** Never looks for spaces that get nothing. */
  readonly forgetStarved?: boolean;
  /** A leader whose group lost a member after it went ahead gives back a turn when it leaves. */
  readonly saveTurns?: boolean;
  /** Pools take leases back although they may not. */
  readonly preemptAlways?: boolean;
  /** A cohort lends twice what its spaces have. */
  readonly lendTwice?: boolean;
  /** Spaces borrow what others wait for. */
  readonly forgetLenders?: boolean;
  /** The priorities of waiting requests never rise. */
  readonly forgetAgeing?: boolean;
  /** Priorities rise above their bound. */
  readonly ageWithoutBound?: boolean;
  /** The index of idle resources by label misses those that became idle. */
  readonly loseMatches?: boolean;
  /** Puts used clusters back into the pool. */
  readonly lendUsed?: boolean;
  /** Plans as if pools of clusters had no maximum. */
  readonly ignoreMax?: boolean;
  /** Plans clusters as if the pools above had no limit. */
  readonly ignoreAccounts?: boolean;
  /** Plans clusters as if hubs had no limit. */
  readonly ignoreHubLimits?: boolean;
  /** Lends clusters although their hub cannot be reached. */
  readonly lendUnreachable?: boolean;
  /** Spaces are charged for clusters only while they hold them. */
  readonly uncharge?: boolean;
}

export interface ServerWatcher {
  /** `leads`: this server has just decided it; otherwise it was read from the journal. */
  committed(recorded: Recorded, state: State, leads: boolean): void;
  failed(cause: unknown): void;
  /** Called for the release of an ended lease, so that a planted bug can act. */
  holderOfStale(id: RequestId): RequestId | undefined;
  /** The holder of a resource now. */
  holderOf(resource: ResourceName): string | undefined;
}

export const startMs = 1_700_000_000_000;

/** One run of a server, from its start to its end. */
export interface Process {
  /** Returns a function that has no effect once the process has ended, and waits while it is paused. */
  guard<Args extends unknown[]>(run: (...args: Args) => void): (...args: Args) => void;
}

/** Where the journal of a server is. */
export interface Storage {
  /** Grows with every answer to a server. */
  readonly answers: number;
  open(process: Process): Promise<OpenStorage>;
  /** The server has died in the middle of whatever it did. */
  crash(): void;
}

export interface OpenStorage {
  readonly journal: Journal;
  readonly options?: Partial<BrokerOptions>;
  readonly started?: (broker: Broker) => void;
}

/** What clients reach: one server, or several. */
export interface Site {
  /** The broker that decides; undefined if none does. */
  readonly broker: Broker | undefined;
  /**
   * Grows whenever the broker may have changed its state: when a timer wakes it, and when the disk
   * has answered.
   */
  readonly turns: number;
  /** `clockErrorMs`: the error of the machine's clock at the start. */
  start(clockErrorMs: number): Promise<void>;
  /** Like `kill -9`: open calls never get a reply. */
  kill(): void;
  pause(durationMs: number): void;
  /** Returns undefined if no server runs, or if it died before it answered. */
  call(call: Call): Promise<Reply | undefined>;
  /**
   * Called when a reply was sent, or when its connection broke. `arrived` is what the server knows.
   */
  replyEnded(reply: Reply, ended: { readonly arrived: boolean }): void;
}

/** No two processes have the same number, so that a reply names the process that has sent it. */
let lastGeneration = 0;

export class Server implements Site {
  readonly #world: World;
  readonly #storage: Storage;
  readonly #bugs: EdgeBugs;
  readonly #watcher: ServerWatcher;
  readonly #newId: () => RequestId;
  readonly #saved = new SavedTurns();
  #broker: Broker | undefined;
  #tokens = new Tokens("");
  /** The calls made during a pause wait here: a stopped process reads nothing. */
  #paused: (() => void)[] | undefined;
  #generation = 0;
  #asked = 0;
  #deliveries: Deliveries | undefined;
  #turns = 0;

  constructor(
    world: World,
    storage: Storage,
    bugs: EdgeBugs,
    watcher: ServerWatcher,
    newId: () => RequestId,
  ) {
    this.#world = world;
    this.#storage = storage;
    this.#bugs = bugs;
    this.#watcher = watcher;
    this.#newId = newId;
  }

  get broker(): Broker | undefined {
    return this.#broker;
  }

  get isPaused(): boolean {
    return this.#paused !== undefined;
  }

  get turns(): number {
    return this.#turns + this.#storage.answers;
  }

  async start(clockErrorMs: number): Promise<void> {
    const generation = ++lastGeneration;
    this.#generation = generation;
    const process = { guard: this.#guardOf(generation) };
    const { journal, options: more, started } = await this.#storage.open(process);
    const options = { snapshotEveryEvents: 40, probeEveryMs: 500, ...more };
    const broker = await Broker.open(
      journal,
      (notBefore) => this.#environment(generation, notBefore, clockErrorMs),
      options,
    );
    if (generation !== this.#generation) return;
    this.#tokens = new Tokens(journal.secret);
    broker.listen({
      committed: (recorded, state) => {
        if (generation !== this.#generation) return;
        this.#watcher.committed(recorded, state, broker.mode === "leading");
        if (this.#bugs.ignoreSharedPaces) ignoreSharedPaces(state);
        if (this.#bugs.listWrongMatches) listWrongMatches(state);
        if (this.#bugs.loseMatches) loseMatches(state);
        if (this.#bugs.ignoreQuotas) ignoreQuotas(state);
        if (this.#bugs.ignoreShares) ignoreShares(state);
        if (this.#bugs.forgetStarved) forgetStarved(state);
        if (this.#bugs.saveTurns) this.#saved.record(recorded.events, state);
        if (this.#bugs.lendTwice || this.#bugs.forgetLenders) spoilCohorts(state, this.#bugs);
        if (this.#bugs.preemptAlways) preemptAlways(state);
        if (this.#bugs.forgetAgeing) spoilAgeing(state, Number.NEGATIVE_INFINITY);
        if (this.#bugs.ageWithoutBound) spoilAgeing(state, Number.POSITIVE_INFINITY);
        spoilClusters(state, this.#bugs, recorded.at);
      },
      failed: (_what, cause) => {
        // Pruning fails while the database cannot be reached.
        if (!(cause instanceof JournalUnavailable)) this.#watcher.failed(cause);
      },
      fatal: (cause) => this.#watcher.failed(cause),
    });
    this.#broker = broker;
    this.#deliveries = new Deliveries(broker);
    started?.(broker);
  }

  kill(): void {
    this.#generation = ++lastGeneration;
    this.#broker = undefined;
    this.#paused = undefined;
    this.#deliveries = undefined;
    this.#storage.crash();
  }

  pause(durationMs: number): void {
    if (this.#paused !== undefined) return;
    const held: (() => void)[] = [];
    this.#paused = held;
    this.#world.after(durationMs, () => {
      if (this.#paused !== held) return;
      this.#paused = undefined;
      this.#turns += 1;
      for (const run of held) run();
    });
  }

  async call(call: Call): Promise<Reply | undefined> {
    const generation = this.#generation;
    if (this.#paused !== undefined)
      await new Promise<void>((resolve) => this.#paused?.push(resolve));
    const broker = this.#broker;
    if (broker === undefined || generation !== this.#generation) return undefined;
    let reply: Reply;
    try {
      reply = await this.#handle(broker, call);
    } catch (cause) {
      reply = { type: "unavailable", notLeader: cause instanceof NotLeader };
    }
    return generation === this.#generation ? reply : undefined;
  }

  async #handle(broker: Broker, call: Call): Promise<Reply> {
    const from = originOf(call);
    if (call.type === "operate")
      return this.#reply(await broker.submit(this.#spoilt(call.command), from));
    if (call.type === "ask-by-name") return await this.#askByName(broker, call.ask, call.waitMs);
    if (call.type === "take-by-name") {
      const ids = call.resources.map(() => this.#newId());
      return this.#reply(await broker.submit({ ...call, type: "take", ids }, from));
    }
    if (call.type === "acquire") {
      const command = { ...call, id: this.#newId() };
      return this.#reply(await submitAndWait(broker, command, { from }));
    }
    const { id, token, waitMs = 0 } = call;
    if (!this.#bugs.trustAnybody && !this.#tokens.proves(id, token)) return { type: "forbidden" };
    switch (call.type) {
      case "poll":
        return this.#reply(
          await submitAndWait(broker, { type: "keep-waiting", id, waitMs }, { from }),
        );
      case "leave":
        if (this.#bugs.keepLeavers) return this.#reply({ type: "done" });
        return this.#reply(await broker.submit({ type: "leave", id, why: "cancelled" }, from));
      case "renew":
        return this.#reply(await broker.submit({ type: "renew", id }, from));
      case "release": {
        const stale = this.#bugs.ignoreFences ? this.#watcher.holderOfStale(id) : undefined;
        return this.#reply(await broker.submit({ type: "release", id: stale ?? id }, from));
      }
    }
  }

  /** Does the same as the edge for Boskos's clients. */
  async #askByName(broker: Broker, wanted: Ask, waitMs: number): Promise<Reply> {
    const { key, ...rest } = wanted;
    const ask =
      this.#bugs.forgetPollers && key ? { ...rest, key: `${key}-${++this.#asked}` } : wanted;
    const outcome = await submitAndWait(
      this.#bugs.forgetDelivery ? withoutConfirming(broker) : broker,
      {
        type: "acquire",
        id: this.#newId(),
        ask,
        waitMs,
        ...(key === undefined ? { nowOnly: true } : undefined),
      },
      { newId: this.#newId, from: originOf({ type: "ask-by-name", ask: wanted, waitMs }) },
    );
    if (outcome.type !== "granted") return this.#reply(outcome);
    this.#deliveries?.begin([outcome.lease]);
    return { type: "outcome", outcome, token: "", by: this.#generation };
  }

  replyEnded(reply: Reply, { arrived }: { readonly arrived: boolean }): void {
    if (reply.type !== "outcome" || reply.by !== this.#generation) return;
    if (reply.outcome.type !== "granted") return;
    this.#deliveries?.end([reply.outcome.lease], arrived);
  }

  #spoilt(command: Command): Command {
    if (this.#bugs.admitAlways && command.type === "withhold") {
      return { type: "admit", pool: command.pool, grants: 100, forMs: 60_000 };
    }
    if (!this.#bugs.trustNames || command.type !== "release-held") return command;
    const holder = this.#watcher.holderOf(command.resource);
    const { lease: _, ...rest } = command;
    return holder === undefined ? command : { ...rest, holder };
  }

  #reply(outcome: Outcome): Reply {
    const id = idOf(outcome);
    return { type: "outcome", outcome, token: id === undefined ? "" : this.#tokens.of(id) };
  }

  #guardOf(generation: number): Process["guard"] {
    return (run) =>
      (...args) => {
        if (generation !== this.#generation) return;
        this.#turns += 1;
        if (this.#paused === undefined) run(...args);
        else this.#paused.push(() => run(...args));
      };
  }

  #environment(generation: number, notBefore: Instant, clockErrorMs: number): Environment {
    const world = this.#world;
    let originMs = Math.max(startMs + world.nowMs + clockErrorMs, notBefore) - world.nowMs;
    const guard = this.#guardOf(generation);
    return {
      // A state from a snapshot may know a time with a fraction; the clock of a server never shows one.
      now: () => Math.floor(originMs + world.nowMs) as Instant,
      // Some deadlines are fractions of a millisecond.
      wakeAt: (at, wake) => world.at(Math.ceil(at - originMs), guard(wake)),
      startOver: (at) => {
        originMs = Math.max(originMs, at - world.nowMs);
      },
      soon: (run) => world.after(0, guard(run)),
    };
  }
}

/** Answers a repeated request without committing that the lease was delivered. */
function withoutConfirming(broker: Broker): WaitingBroker {
  let first: RequestId | undefined;
  const submit = async (command: Command, from?: Origin): Promise<Outcome> => {
    const id = first;
    if (command.type !== "acquire" || id === undefined) {
      const outcome = await broker.submit(command, from);
      first = idOf(outcome);
      return outcome;
    }
    return broker.read((state, now) => standing(state, id, now));
  };
  return {
    submit,
    now: () => broker.now(),
    read: (read) => broker.read(read),
    untilSettled: (...args) => broker.untilSettled(...args),
  };
}

/** Affects decisions only: the journal has the original policies. */
function ignoreSharedPaces({ pools }: State): void {
  for (const pool of pools.values()) {
    if (pool.children.size === 0 || pool.policy.pace === undefined) continue;
    const { policy } = pool;
    const { pace: _, ...rest } = policy;
    edit(pool).policy = Object.defineProperty(rest, "toJSON", { value: () => policy });
    forgetGatesBelow(pool);
  }
}

function listWrongMatches({ pools }: State): void {
  for (const { idle, cache } of bucketsOf(pools.values())) {
    for (const { found } of cache.matches.bySelection.values()) {
      if (idle.first !== null) found.add(idle.first);
    }
  }
}

function loseMatches({ pools }: State): void {
  for (const { cache } of bucketsOf(pools.values())) {
    cache.matches.byName?.clear();
    for (const { found } of cache.matches.bySelection.values()) found.clear();
  }
}

/** As the edges say it: who calls, and which way. */
function originOf(call: Call): Origin {
  switch (call.type) {
    case "operate":
      return call.command.type === "configure"
        ? { way: "config" }
        : { way: "http", by: "operator" };
    case "ask-by-name":
    case "take-by-name":
      return { way: "boskos", by: "boskos" };
    case "acquire":
      return { way: "http", by: call.ask.holder };
    default:
      return { way: "http", asHolder: true };
  }
}

function ignoreQuotas({ spaces }: State): void {
  for (const space of spaces.values()) edit(space).policy = { ...space.policy, quotas: [] };
}

function ignoreShares({ spaces }: State): void {
  for (const space of spaces.values()) {
    edit(space).share = 0;
    for (const line of space.lines) line.queue.sortAgain(line);
  }
}

function forgetStarved({ pools }: State): void {
  for (const pool of pools.values()) pool.cache.starving = new StarvingSpaces();
}

function preemptAlways({ pools }: State): void {
  for (const pool of pools.values()) edit(pool).policy = { ...pool.policy, preempt: true };
}

function spoilCohorts(state: State, { lendTwice }: EdgeBugs): void {
  for (const { quotas } of state.cohorts.values()) {
    for (const quota of quotas.values()) if (lendTwice) edit(quota).capacity = 1_000;
  }
  if (lendTwice) return;
  for (const space of state.spaces.values()) {
    edit(space.wanted).clear();
    followCohort(state, space);
  }
}

function spoilAgeing(state: State, max: number): void {
  const { priorities } = state;
  if (priorities.ageing === null) return;
  edit(state).priorities = { ...priorities, ageing: { ...priorities.ageing, max } };
  for (const request of state.requests.values()) scheduleRise(state, request);
}

function bucketsOf(pools: Iterable<Pool>): Bucket[] {
  return [...pools].flatMap(({ buckets }) => [...buckets.values()]);
}
