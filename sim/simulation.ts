/**
 * Simulates one seed: jobs come and go for a quarter of an hour with all kinds of faults. Then the
 * faults stop, and every waiting request must be granted.
 */

import { createHash } from "node:crypto";
import type { Broker } from "../src/broker/broker.ts";
import { apply } from "../src/core/apply/apply.ts";
import { emptyState } from "../src/core/apply/create.ts";
import { awaitingAdmission } from "../src/core/decide/admit.ts";
import type { Ask, Command } from "../src/core/model/command.ts";
import type { DurableEvent } from "../src/core/model/event.ts";
import type { HubSpec } from "../src/core/model/hub.ts";
import type { PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import type { PoolSpec } from "../src/core/model/policy.ts";
import type { PrioritiesSpec } from "../src/core/model/priority.ts";
import type { SpacesSpec } from "../src/core/model/space.ts";
import { dropCaches, type State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import { Random } from "../src/insight/forecast/random.ts";
import type { Recorded } from "../src/journal/journal.ts";
import { AuditLedger } from "./audit-ledger.ts";
import { BoskosWorld } from "./boskos-world.ts";
import type { Bugs } from "./bugs.ts";
import { ClusterWorld } from "./cluster-world.ts";
import { Disk } from "./disk.ts";
import { runHoarder } from "./hoarder.ts";
import { checkSnapshot, checkState, checkWaiting } from "./invariants.ts";
import { type JobWorld, runJob } from "./job.ts";
import { Network } from "./network.ts";
import { Observer } from "./observer.ts";
import { ReplicaSet } from "./replicas/replica-set.ts";
import {
  editedPools,
  inSpace,
  randomAsk,
  randomPools,
  randomPriorities,
  randomSpaces,
  spaceNames,
  withPreemption,
  zones,
} from "./scenario.ts";
import { Server, type Site } from "./server.ts";
import { stateDifference } from "./state-difference.ts";
import { assertInvariant, Violation } from "./violation.ts";
import { World } from "./world.ts";

export interface SimulationResult {
  readonly seed: number;
  /** A hash of everything that was committed. Equal runs have equal digests. */
  readonly digest: string;
  readonly grants: number;
  readonly events: number;
  readonly restarts: number;
  readonly virtualMs: number;
}

/** No request has a lower one, so that endless requests of this priority may starve nobody. */
const lowestPriority = -2;

const faultsMs = 15 * 60_000;
/** Far longer than the holds of all jobs together. A request that waits longer waits for ever. */
const livenessMs = 12 * 3_600_000;
/** Longer than any timeout, presence and lifespan together. */
const drainMs = 8 * 60_000;
const checkMsMax = 5_000;
const creditMsMin = 5_000;
/** The number of background jobs that ask for one pool again and again. */
const backgroundCount = 5;
/** The number of pairs that a space has in the queue to save up turns. */
const hoarderCount = 4;
const replayEveryCommits = 25;
/** The slowest message, the longest pause and the slowest sync together. */
const stragglersMs = 5 * 60_000;

export interface SimulationOptions {
  /** Drops all caches at random moments. This must change no decision. */
  readonly dropCaches?: boolean;
}

export async function simulate(
  seed: number,
  bugs: Bugs = {},
  options: SimulationOptions = {},
): Promise<SimulationResult> {
  return await new Simulation(seed, bugs, options).run();
}

class Simulation {
  readonly #seed: number;
  readonly #random: Random;
  readonly #world = new World();
  readonly #observer = new Observer(this.#world);
  readonly #audit = new AuditLedger();
  readonly #disk: Disk;
  readonly #server: Site;
  /** Some worlds have several servers on one journal. */
  readonly #replicas: ReplicaSet | undefined;
  readonly #network: Network;
  readonly #pools: PoolSpec[];
  readonly #boskos: BoskosWorld;
  readonly #clusters: ClusterWorld;
  /** A separate random source, so that worlds without spaces keep their story. */
  readonly #spaceRandom: Random;
  /** Undefined: the clients of this world have no spaces. */
  readonly #spaces: SpacesSpec | undefined;
  /** A separate random source for priorities that change. */
  readonly #priorityRandom: Random;
  #priorities: PrioritiesSpec | undefined;
  #faulty = true;
  #restarts = 0;
  #unfinished = 0;
  #failure: unknown;
  #toldSeq = 0;
  #commits = 0;
  #lastId = 0;
  /** The broker that is being looked at. One that was killed meanwhile never answers. */
  #looking: Broker | undefined;
  #looked: { readonly broker?: Broker; readonly turns: number } = { turns: 0 };
  #untold = new Set<RequestId>();
  /** A separate random source, so that the rest of the history is the same with and without it. */
  readonly #dropping: Random | undefined;

  constructor(seed: number, bugs: Bugs, { dropCaches: dropping = false }: SimulationOptions) {
    this.#dropping = dropping ? new Random(seed + 1) : undefined;
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#disk = new Disk(this.#world, this.#random, bugs);
    const newId = () => `r${++this.#lastId}` as RequestId;
    const watcher = {
      committed: (recorded: Recorded, state: State, leads: boolean) =>
        this.#guard(() => this.#committed(recorded, state, leads)),
      failed: (cause: unknown) => this.#fail(cause),
      holderOfStale: (id: RequestId) => this.#observer.successorOf(id),
      holderOf: (resource: ResourceName) => this.#observer.holderOf(resource),
      durable: ({ seq, at, events }: Recorded) => this.#guard(() => this.#tell(seq, at, events)),
      leads: (broker: Broker) => void this.#checkRecovered(broker),
      isHeld: (id: RequestId) => this.#observer.ledger.leases.has(id),
    };
    const [world, disk] = [this.#world, this.#disk];
    this.#replicas = hasReplicas(seed)
      ? new ReplicaSet({ world, disk, bugs, watcher, newId, random: new Random(seed + 5) })
      : undefined;
    this.#server = this.#replicas ?? new Server(world, disk, bugs, watcher, newId);
    this.#network = new Network(this.#world, this.#random, this.#server);
    this.#pools = withPreemption(randomPools(this.#random), new Random(seed + 4));
    this.#boskos = new BoskosWorld(this.#jobWorld());
    this.#clusters = new ClusterWorld(this.#jobWorld(), new Random(seed + 4), bugs);
    this.#spaceRandom = new Random(seed + 2);
    const hasSpaces = this.#spaceRandom.chance(0.5);
    const pools = [...this.#pools, ...this.#clusters.pools];
    this.#spaces = hasSpaces ? randomSpaces(this.#spaceRandom, pools) : undefined;
    this.#priorityRandom = new Random(seed + 3);
    this.#priorities = randomPriorities(this.#priorityRandom);
  }

  async run(): Promise<SimulationResult> {
    this.#act(() => this.#boot());
    this.#spawnJobs();
    this.#spawnBackground();
    this.#spawnHoarders();
    this.#spawnPollers();
    this.#spawnClusters();
    this.#act(() => this.#injectFaults());
    const replicas = this.#replicas;
    if (replicas !== undefined) {
      this.#act(() => this.#troubleReplicas(replicas));
      this.#act(() => this.#readReplicas(replicas));
    }
    this.#act(() => this.#bump());
    this.#act(() => this.#clean());
    this.#act(() => this.#checkAdmission());
    await this.#advance(faultsMs);
    this.#faulty = false;
    this.#network.bad = false;
    this.#disk.full = false;
    this.#disk.syncMsMax = 20;
    this.#disk.flaky = false;
    this.#disk.unreadable = false;
    this.#replicas?.calm();
    this.#act(() => this.#restore());
    await this.#advance(faultsMs + livenessMs);
    assertInvariant(
      this.#unfinished === 0,
      () => `${this.#unfinished} jobs still wait, ${livenessMs / 3_600_000} h after the last fault`,
    );
    await this.#drain();
    await this.#settleClusters();
    this.#checkReplay();
    const digest = createHash("sha256").update(JSON.stringify(this.#disk.commits)).digest("hex");
    return {
      seed: this.#seed,
      digest,
      grants: this.#observer.grants,
      events: this.#disk.head,
      restarts: this.#restarts,
      virtualMs: this.#world.nowMs,
    };
  }

  async #advance(endMs: number): Promise<void> {
    while ((this.#faulty || this.#unfinished > 0) && (await this.#world.step(endMs))) {
      this.#checkStep();
      if (this.#failure !== undefined) throw this.#failure;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** All clients have finished. A resource that is still held now would never be released. */
  async #drain(): Promise<void> {
    if (this.#boskos.pools.length === 0) return;
    this.#boskos.over = true;
    const endMs = this.#world.nowMs + drainMs;
    while (await this.#world.step(endMs)) {
      this.#checkStep();
      if (this.#failure !== undefined) throw this.#failure;
    }
    this.#boskos.checkNothingLeft();
  }

  /** The books and the cloud agree in the end: nothing is half made, and nothing is orphaned. */
  async #settleClusters(): Promise<void> {
    const endMs = this.#world.nowMs + livenessMs;
    while (this.#clusters.unsettled() !== undefined && (await this.#world.step(endMs))) {
      if (this.#failure !== undefined) throw this.#failure;
    }
    const left = this.#clusters.unsettled();
    assertInvariant(left === undefined, () => `${left}, ${livenessMs / 3_600_000} h after the end`);
  }

  /**
   * Checks the state after every step in which it is consistent. If the broker has done nothing
   * since the last check (half of the steps), only the checks that depend on time run again.
   */
  #checkStep(): void {
    const { broker } = this.#server;
    if (broker === undefined || this.#looking === broker) return;
    this.#looking = broker;
    const looked = broker.read((state, now) =>
      this.#guard(() => {
        const dropped = this.#dropping?.chance(0.3) === true;
        if (dropped) dropCaches(state);
        const { turns } = this.#server;
        const same = this.#looked.broker === broker && this.#looked.turns === turns;
        this.#looked = { broker, turns };
        if (same && !dropped) checkWaiting(state, now);
        else checkState(state, now);
        this.#checkPolls(state, broker);
      }),
    );
    const done = (): void => {
      if (this.#looking === broker) this.#looking = undefined;
    };
    looked.then(done, done); // While the disk is unreadable there is no state to check.
  }

  /** A long poll may start just after the grant; one step later it must have ended. */
  #checkPolls(state: State, broker: Broker): void {
    const untold = [...state.leases.keys()].filter((id) => broker.isAwaited(id));
    const still = untold.find((id) => this.#untold.has(id));
    assertInvariant(
      still === undefined,
      () => `${still} was granted and its long poll is still open`,
    );
    this.#untold = new Set(untold);
  }

  #committed(recorded: Recorded, state: State, leads: boolean): void {
    this.#tell(recorded.seq, recorded.at, recorded.events);
    // Those that read it from the journal may be ahead of it and have no deadlines.
    const isLast = recorded.seq + recorded.events.length - 1 === this.#disk.head;
    if (!leads || !isLast) return;
    checkState(state, recorded.at);
    this.#commits += 1;
    if (this.#commits % replayEveryCommits === 0) {
      checkSnapshot(state);
      this.#checkReplay(state);
    }
  }

  #tell(seq: number, at: Instant, events: readonly DurableEvent[]): void {
    const fresh = events.slice(Math.max(0, this.#toldSeq + 1 - seq));
    this.#toldSeq = Math.max(this.#toldSeq, seq + events.length - 1);
    this.#observer.committed({ seq, at, events: fresh });
    this.#audit.record({ seq: seq + events.length - fresh.length, at, events: fresh });
  }

  /** Replaying the whole journal gives the live state. */
  #checkReplay(live?: State, head = this.#disk.head): void {
    const replayed = emptyState();
    for (const { seq, at, text } of this.#disk.commits) {
      if (seq > head) break; // Followers are behind.
      for (const event of JSON.parse(text) as DurableEvent[]) apply(replayed, event, at);
    }
    const endedAt = this.#disk.commits.at(-1)?.at ?? (0 as Instant);
    if (live === undefined) checkState(withGrace(replayed, endedAt), endedAt);
    else {
      const difference = stateDifference(replayed, live);
      assertInvariant(
        difference === undefined,
        () => `the journal replays to another state: ${difference}`,
      );
    }
  }

  async #boot(): Promise<void> {
    this.#restarts += 1;
    const clockErrorMs = this.#random.chance(0.3) ? this.#random.between(-7_200_000, 7_200_000) : 0;
    for (const { seq, at, text } of this.#disk.commits) {
      const events = JSON.parse(text) as DurableEvent[];
      if (seq + events.length - 1 > this.#toldSeq) this.#guard(() => this.#tell(seq, at, events));
    }
    // A server that cannot read its journal exits, and a supervisor starts it again.
    while (this.#disk.unreadable) await this.#world.sleep(1_000);
    await this.#server.start(clockErrorMs);
    const { broker } = this.#server;
    if (broker === undefined) return;
    await this.#checkRecovered(broker);
    await this.#configure();
  }

  async #checkRecovered(broker: Broker): Promise<void> {
    const recovered = broker.read((state) => {
      // A server that no longer leads when it answers may be a little behind.
      const leads = this.#replicas?.leads(broker) ?? true;
      if (leads) this.#guard(() => this.#observer.recovered(state));
    });
    await recovered.catch(() => {}); // The disk is failing; the next start reports it.
  }

  #jobWorld(): JobWorld {
    return {
      world: this.#world,
      random: this.#random,
      network: this.#network,
      observer: this.#observer,
      faulty: () => this.#faulty,
    };
  }

  #configure(pools: readonly PoolSpec[] = this.#pools): Promise<void> {
    const all = [...pools, ...this.#boskos.pools, ...this.#clusters.pools];
    return this.#configureWith(all, this.#spaces, this.#clusters.hubs);
  }

  /** An operator edits the file, and later restores it. */
  #edit(): Promise<void> {
    const pools = [
      ...editedPools(this.#pools, this.#random),
      ...this.#boskos.editedPools(),
      ...this.#clusters.editedPools(),
    ];
    const isSame = this.#spaces === undefined || this.#spaceRandom.chance(0.5);
    const spaces = isSame ? this.#spaces : this.#editedSpaces(pools);
    if (this.#priorityRandom.chance(0.2)) this.#priorities = randomPriorities(this.#priorityRandom);
    return this.#configureWith(pools, spaces, this.#clusters.editedHubs());
  }

  /** Spaces that are not listed may be refused now: their requests leave, their leases stay. */
  #editedSpaces(pools: readonly PoolSpec[]): SpacesSpec {
    const spaces = randomSpaces(this.#spaceRandom, pools);
    return this.#spaceRandom.chance(0.3) ? { ...spaces, others: null } : spaces;
  }

  #configureWith(
    pools: readonly PoolSpec[],
    spaces: SpacesSpec | undefined,
    hubs: readonly HubSpec[],
  ): Promise<void> {
    const priorities = this.#priorities;
    const more = {
      ...(hubs.length === 0 ? undefined : { hubs }),
      ...(spaces === undefined ? undefined : { spaces }),
      ...(priorities === undefined ? undefined : { priorities }),
    };
    return this.#operate({ type: "configure", pools, ...more });
  }

  /** An operator changes the priority of a waiting request, now and then. */
  async #bump(): Promise<void> {
    const random = this.#priorityRandom;
    while (this.#faulty) {
      await this.#world.sleep(random.between(5_000, 90_000));
      const ids = [...this.#observer.ledger.waiting.keys()] as RequestId[];
      if (ids.length === 0 || random.chance(0.5)) continue;
      const priority = random.pick([lowestPriority, -1, 0, 1, 2, "urgent", "nightly", "unknown"]);
      const reason = { by: "operator", why: "simulated" };
      await this.#operate({ type: "bump", id: random.pick(ids), priority, reason });
    }
  }

  #inSpace(ask: Ask): Ask {
    return this.#spaces === undefined ? ask : inSpace(ask, this.#spaceRandom);
  }

  #spawnPollers(): void {
    for (const { client, waitedFor } of this.#boskos.clients(faultsMs)) {
      if (waitedFor) this.#unfinished += 1;
      this.#act(async () => {
        await client;
        if (waitedFor) this.#unfinished -= 1;
      });
    }
  }

  #spawnClusters(): void {
    for (const worker of this.#clusters.workers()) this.#act(() => worker);
    for (const asked of this.#clusters.asks()) {
      const ask = this.#inSpace(asked);
      this.#unfinished += 1;
      this.#world.after(this.#random.between(0, faultsMs), () =>
        this.#act(async () => {
          await runJob(ask.holder, ask, this.#jobWorld());
          this.#unfinished -= 1;
        }),
      );
    }
  }

  #spawnJobs(): void {
    const jobWorld = this.#jobWorld();
    const count = this.#random.between(10, 40);
    for (let number = 1; number <= count; number++) {
      const name = `job-${number}`;
      const ask = this.#inSpace(randomAsk(this.#random, this.#pools, name));
      this.#unfinished += 1;
      this.#world.after(this.#random.between(0, faultsMs), () =>
        this.#act(async () => {
          await runJob(name, ask, jobWorld);
          this.#unfinished -= 1;
        }),
      );
    }
  }

  /**
   * Some worlds have endless low-priority requests for one pool. If a request could starve, it does
   * so here. Only one pool, because a request that waits for two paces may legally wait until these
   * requests stop.
   */
  #spawnBackground(): void {
    const random = this.#random;
    const lent = this.#pools.filter(({ members }) => members.length > 0);
    if (random.chance(0.8)) return;
    const pool = random.pick(lent);
    for (let number = 1; number <= backgroundCount; number++) {
      this.#act(() => this.#runBackground(pool, `background-${number}`));
    }
  }

  async #runBackground(pool: PoolSpec, name: string): Promise<void> {
    for (let turn = 1; this.#faulty || this.#unfinished > 0; turn++) {
      const holder = `${name}-${turn}`;
      const { priority: _, ...ask } = this.#inSpace(randomAsk(this.#random, [pool], holder));
      await runJob(holder, { ...ask, priority: lowestPriority }, this.#jobWorld());
      // The request may have been refused while the file had no such pool.
      await this.#world.sleep(1_000);
    }
  }

  /** In some worlds a space tries to save up turns in a pool that several resources are lent from. */
  #spawnHoarders(): void {
    const random = new Random(this.#seed + 6);
    const pools = this.#pools.filter(({ members, policy }) => {
      return members.length > 1 && policy.placement === undefined;
    });
    if (this.#spaces === undefined || pools.length === 0 || random.chance(0.7)) return;
    const [pool, space] = [random.pick(pools), random.pick(spaceNames)];
    for (let number = 1; number <= hoarderCount; number++) {
      const jobWorld = { ...this.#jobWorld(), random };
      this.#act(() => runHoarder(`hoarder-${number}`, space, pool, jobWorld));
    }
  }

  /** Injects one fault after the other. */
  async #injectFaults(): Promise<void> {
    const random = this.#random;
    while (this.#faulty) {
      await this.#world.sleep(random.between(1_000, 60_000));
      if (!this.#faulty) return;
      await random.pick([
        () => this.#crash(),
        () => this.#crash(),
        () => this.#server.pause(random.between(1_000, 120_000)),
        () => this.#fillDisk(),
        () => this.#slowDisk(),
        () => this.#failingDisk(),
        () => this.#edit(),
        () => this.#configure(),
        () => this.#operateAtRandom(),
        () => this.#operateAtRandom(),
      ])();
    }
  }

  /** Faults that only several servers have; those that died start again. */
  async #troubleReplicas(replicas: ReplicaSet): Promise<void> {
    const random = new Random(this.#seed + 6);
    while (this.#faulty) {
      await this.#world.sleep(random.between(1_000, 60_000));
      if (this.#faulty) await replicas.trouble();
      await this.#world.sleep(random.between(0, 20_000));
      await replicas.start();
    }
  }

  async #readReplicas(replicas: ReplicaSet): Promise<void> {
    const random = new Random(this.#seed + 7);
    while (this.#faulty || this.#unfinished > 0) {
      await this.#world.sleep(random.between(100, this.#faulty ? 4_000 : 120_000));
      await replicas.checkReader((state, head) =>
        this.#guard(() => this.#checkReplay(state, head)),
      );
    }
  }

  async #crash(): Promise<void> {
    this.#server.kill();
    await this.#world.sleep(this.#random.between(0, 20_000));
    await this.#boot();
  }

  async #fillDisk(): Promise<void> {
    this.#disk.full = true;
    await this.#world.sleep(this.#random.between(100, 90_000));
    this.#disk.full = false;
  }

  async #slowDisk(): Promise<void> {
    this.#disk.syncMsMax = this.#random.between(1_000, 60_000);
    await this.#world.sleep(this.#random.between(1_000, 120_000));
    this.#disk.syncMsMax = 20;
  }

  /** Syncs fail now and then, and for a while the disk is not readable either. */
  async #failingDisk(): Promise<void> {
    this.#disk.flaky = true;
    await this.#world.sleep(this.#random.between(1_000, 30_000));
    this.#disk.unreadable = true;
    await this.#world.sleep(this.#random.between(1_000, 30_000));
    this.#disk.unreadable = false;
    this.#disk.flaky = false;
  }

  /** An operator drains, undrains, quarantines or labels a resource, or ends a lease. */
  async #operateAtRandom(): Promise<void> {
    const random = this.#random;
    const names = [...this.#observer.ledger.things.keys()] as ResourceName[];
    const leases = [...this.#observer.ledger.leases.keys()] as RequestId[];
    const reason = { by: "operator", why: "simulated" };
    if (leases.length > 0 && random.chance(0.2))
      return this.#operate({ type: "revoke", id: random.pick(leases), reason });
    if (leases.length > 0 && random.chance(0.3)) {
      const throttled = random.chance(0.8);
      return this.#operate({ type: "signal", id: random.pick(leases), throttled });
    }
    if (random.chance(0.1)) {
      const rate = random.pick([null, 6, 30]);
      return this.#operate({ type: "pin", pool: random.pick(this.#pools).name, rate, reason });
    }
    if (names.length === 0) return;
    const change = random.pick([
      { drained: true },
      { drained: false },
      { state: "quarantined" },
      { labels: { zone: random.pick(zones) } },
    ]);
    return this.#operate({ type: "change-resource", resource: random.pick(names), change, reason });
  }

  /** Cleans dirty resources and frees quarantined ones. */
  async #clean(): Promise<void> {
    for (;;) {
      await this.#world.sleep(5_000);
      for (const [name, { state, heldBy, pool }] of this.#observer.ledger.things) {
        if (heldBy !== null || (state !== "dirty" && state !== "quarantined")) continue;
        if (state === "dirty" && this.#boskos.cleans(pool)) continue;
        await this.#free(name as ResourceName);
      }
    }
  }

  /** Runs admission checks for requests that wait only for credits. Sometimes a check says no. */
  async #checkAdmission(): Promise<void> {
    const random = this.#random;
    const { admissions } = this.#observer.ledger;
    for (;;) {
      await this.#world.sleep(random.between(1_000, 8_000));
      const waiting = await this.#awaitingAdmission();
      for (const [pool, count] of waiting) {
        if (this.#faulty && random.chance(0.4)) {
          await this.#operate({ type: "withhold", pool, why: random.pick(["full", "away"]) });
          continue;
        }
        const grants = count + random.between(0, 1);
        admissions.found(pool, grants);
        const forMs = random.between(creditMsMin, 40_000);
        await this.#operate({ type: "admit", pool, grants, forMs });
      }
    }
  }

  async #awaitingAdmission(): Promise<Map<PoolName, number>> {
    const { broker } = this.#server;
    const nobody = new Map<PoolName, number>();
    if (broker === undefined) return nobody;
    const looked = broker.read((state, now) => awaitingAdmission(state, now, creditMsMin));
    // A server that was killed in the middle of a commit never answers.
    const late = this.#world.sleep(checkMsMax).then(() => nobody);
    return Promise.race([looked.catch(() => nobody), late]);
  }

  #free(resource: ResourceName): Promise<void> {
    const reason = { by: "cleaner", why: "" };
    return this.#operate({ type: "change-resource", resource, change: { state: "free" }, reason });
  }

  /** Ends the faults: a server runs, the file and the labels are restored, nothing is drained. */
  async #restore(): Promise<void> {
    // Commands that operators sent during the faults may still arrive.
    await this.#world.sleep(stragglersMs);
    if (this.#server.broker === undefined) await this.#boot();
    await this.#configure();
    const reason = { by: "operator", why: "" };
    const labels = new Map(
      this.#pools.flatMap(({ members }) => members.map((member) => [member.name, member.labels])),
    );
    for (const name of [...this.#observer.ledger.things.keys()] as ResourceName[]) {
      const change = { drained: false, labels: labels.get(name) ?? {} };
      await this.#operate({ type: "change-resource", resource: name, change, reason });
    }
    // A request that selects labels which only an operator had set leaves at the next reload.
    await this.#configure();
  }

  /** Retries until it is done, except during the faults. */
  async #operate(command: Command): Promise<void> {
    for (;;) {
      const reply = await this.#network.call({ type: "operate", command }, 3_000);
      if (reply?.type === "outcome" || this.#faulty) return;
      await this.#world.sleep(1_000);
    }
  }

  #act(run: () => Promise<void>): void {
    run().catch((cause: unknown) => this.#fail(cause));
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #fail(cause: unknown): void {
    this.#failure ??= cause instanceof Violation ? cause : new Violation(String(cause), { cause });
  }
}

/** One world of five has several servers on one journal: a step of it takes longer. */
export function hasReplicas(seed: number): boolean {
  return seed % 5 === 0;
}

function withGrace(state: State, at: Instant): State {
  apply(state, { type: "grace-given" }, at);
  return state;
}
