/**
 * Several servers on one simulated database. Clients reach any of them; those that follow pass calls
 * on to the leader. Members die, are paused, hand over, and lose the database or each other.
 */
import type { Broker } from "../../src/broker/broker.ts";
import { standing } from "../../src/core/decide/acquire.ts";
import type { DurableEvent } from "../../src/core/model/event.ts";
import type { RequestId } from "../../src/core/model/ids.ts";
import type { State } from "../../src/core/model/state.ts";
import type { Random } from "../../src/insight/forecast/random.ts";
import type { Recorded } from "../../src/journal/journal.ts";
import type { Disk } from "../disk.ts";
import {
  type Call,
  type EdgeBugs,
  type Reply,
  Server,
  type ServerWatcher,
  type Site,
  startMs,
} from "../server.ts";
import { assertInvariant } from "../violation.ts";
import type { World } from "../world.ts";
import type { DatabaseNetwork } from "./connection.ts";
import { type DatabaseBugs, SimulatedDatabase } from "./database.ts";
import { Member, type MemberBugs } from "./member.ts";
import { relay } from "./relay.ts";

export interface ReplicaBugs extends DatabaseBugs, MemberBugs {
  /** A server that follows answers heartbeats itself. */
  readonly followerAnswers?: boolean;
}

export interface ReplicaWatcher extends ServerWatcher {
  /** A commit is durable, and no server may know it yet. */
  durable(recorded: Recorded): void;
  /** A server leads from now on. */
  leads(broker: Broker): void;
  isHeld(id: RequestId): boolean;
}

export interface ReplicaParts {
  readonly world: World;
  readonly random: Random;
  readonly disk: Disk;
  readonly bugs: EdgeBugs & ReplicaBugs;
  readonly watcher: ReplicaWatcher;
  readonly newId: () => RequestId;
}

const membersMax = 3;
/** By the offset that each replica measures of the clock of the database. */
const clockErrorMsMax = 100;
const readMsMax = 30_000;
const electionMsMax = 15_000;
const replayChance = 0.05;

export class ReplicaSet implements Site {
  readonly #parts: ReplicaParts;
  readonly #network: DatabaseNetwork;
  readonly #members: readonly { readonly member: Member; readonly server: Server }[];
  /** Pairs of members that do not reach each other. */
  readonly #apart = new Set<string>();

  constructor(parts: ReplicaParts) {
    const { world, random, disk, bugs, watcher, newId } = parts;
    this.#parts = parts;
    const database = new SimulatedDatabase(disk, () => startMs + world.nowMs, bugs);
    this.#network = { world, random, disk, database, bad: true };
    database.notify = (payload) => {
      for (const { member } of this.#members) member.connection?.notify(payload);
    };
    database.committed = (seq, at, text) =>
      watcher.durable({ seq, at, events: JSON.parse(text) as DurableEvent[] });
    const count = random.between(2, membersMax);
    this.#members = Array.from({ length: count }, (_, index) => {
      const leads = (_member: Member, broker: Broker) => watcher.leads(broker);
      const member = new Member(`member-${index + 1}`, this.#network, bugs, leads);
      return { member, server: new Server(world, member, bugs, watcher, newId) };
    });
  }

  get broker(): Broker | undefined {
    return this.#running.find(({ member, server }) => member.isLeading && !server.isPaused)?.member
      .broker;
  }

  /** Whether the server of this broker believes that it leads. */
  leads(broker: Broker): boolean {
    return this.#running.some(({ member }) => member.isLeading && member.broker === broker);
  }

  get turns(): number {
    return this.#members.reduce((sum, { server }) => sum + server.turns, 0);
  }

  get #running() {
    return this.#members.filter(({ member }) => member.broker !== undefined);
  }

  /**
   * Starts the members that do not run; they take the clock of the database. Resolves once one of
   * them leads, or after a moment.
   */
  async start(): Promise<void> {
    const { world, random } = this.#parts;
    for (const { member, server } of this.#members) {
      if (member.broker !== undefined) continue;
      const errorMs = random.between(-clockErrorMsMax, clockErrorMsMax);
      await server.start(errorMs).catch(() => {}); // A supervisor starts it again.
    }
    for (let tries = 0; this.broker === undefined && tries < electionMsMax / 100; tries++) {
      await world.sleep(100);
    }
  }

  kill(): void {
    this.#victim?.server.kill();
  }

  pause(durationMs: number): void {
    this.#victim?.server.pause(durationMs);
  }

  /** No more faults of its own. */
  calm(): void {
    this.#network.bad = false;
    this.#apart.clear();
    for (const { member } of this.#running) if (member.connection) member.connection.mode = "open";
  }

  /** Most faults hit the leader. */
  get #victim() {
    const { random } = this.#parts;
    const leader = this.#running.find(({ member }) => member.isLeading);
    const running = this.#running;
    if (running.length === 0) return undefined;
    return leader !== undefined && random.chance(0.7) ? leader : random.pick(running);
  }

  /** A fault that only several servers have. Resolves when it is over. */
  async trouble(): Promise<void> {
    const { world, random } = this.#parts;
    const victim = this.#victim;
    if (victim === undefined) return;
    const { member, server } = victim;
    const durationMs = random.between(1_000, 60_000);
    const kind = random.pick(["cut", "silent", "apart", "hand-over"] as const);
    if (kind === "hand-over") {
      await Promise.race([member.replica?.stop(), world.sleep(durationMs)]);
      return server.kill();
    }
    if (kind === "apart") {
      for (const other of this.#members) this.#apart.add(pairOf(member, other.member));
      await world.sleep(durationMs);
      return this.#apart.clear();
    }
    const { connection } = member;
    if (connection === undefined) return;
    connection.mode = kind;
    await world.sleep(durationMs);
    connection.mode = "open";
  }

  async call(call: Call): Promise<Reply | undefined> {
    const running = this.#running;
    if (running.length === 0) return undefined;
    const entry = this.#parts.random.pick(running);
    const wasHeld = call.type === "renew" && this.#parts.watcher.isHeld(call.id);
    const reply = await this.#serve(entry, call);
    if (wasHeld && reply?.type === "outcome" && reply.outcome.type === "refused") {
      const isLost = reply.outcome.refusal.code === "lease_not_found";
      const { isHeld } = this.#parts.watcher;
      this.#check(
        !isLost || !isHeld(call.id),
        `a heartbeat of ${call.id} was refused, and it is held`,
      );
    }
    return reply;
  }

  async #serve(entry: Entry, call: Call): Promise<Reply | undefined> {
    const { bugs, world, random } = this.#parts;
    const { member } = entry;
    if (bugs.followerAnswers && call.type === "renew" && !member.isLeading) {
      const looked = member.broker?.read((state, now) => standing(state, call.id, now));
      const outcome = await looked?.catch(() => undefined); // It cannot read its journal.
      return outcome === undefined ? undefined : { type: "outcome", outcome, token: call.token };
    }
    return relay(entry, call, {
      ...{ world, random, isBad: () => this.#network.bad },
      find: (name) => this.#running.find((other) => other.member.name === name),
      areApart: (other) => this.#apart.has(pairOf(member, other.member)),
    });
  }

  replyEnded(reply: Reply, ended: { readonly arrived: boolean }): void {
    for (const { server } of this.#members) server.replyEnded(reply, ended);
  }

  /**
   * A reader of any member sees everything that was committed before it asked, unless the member
   * cannot reach the database: then it is a little behind. What it sees is what the journal says.
   */
  async checkReader(check: (state: State, head: number) => void): Promise<void> {
    const { world, random } = this.#parts;
    const running = this.#running.filter(({ server }) => !server.isPaused);
    if (running.length === 0) return;
    const { member } = random.pick(running);
    const { broker, connection } = member;
    const { head } = this.#network.database;
    const failures = connection?.failures;
    const isReplayed = random.chance(replayChance);
    const read = broker?.read((state) => {
      if (isReplayed) check(state, broker.head);
      return broker.head;
    });
    const seen = read?.catch(() => undefined);
    const late = world.sleep(readMsMax).then(() => undefined);
    const found = await Promise.race([seen, late]);
    if (found === undefined || member.broker !== broker) return;
    const isCut = connection?.failures !== failures;
    const what = `a reader of ${member.name} saw event ${found}, and ${head} was committed before`;
    this.#check(found >= head || (isCut && !member.isLeading), what);
  }

  #check(holds: boolean, what: string): void {
    try {
      assertInvariant(holds, () => what);
    } catch (cause) {
      this.#parts.watcher.failed(cause);
    }
  }
}

interface Entry {
  readonly member: Member;
  readonly server: Server;
}

function pairOf(a: Member, b: Member): string {
  return [a.name, b.name].toSorted().join();
}
