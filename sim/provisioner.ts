/**
 * A simulated worker: it takes clusters that have work, observes before it acts, reports, and releases
 * them. It dies, sleeps longer than its lease, and loses replies.
 */
import type { Command } from "../src/core/model/command.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import type { Outcome } from "../src/core/model/outcome.ts";
import type { Random } from "../src/insight/forecast/random.ts";
import type { Cloud, Where } from "./cloud.ts";
import type { Network } from "./network.ts";
import { Violation } from "./violation.ts";
import type { World } from "./world.ts";

export interface WorkerBugs {
  /** Releases a cluster as ready while it is being created. */
  readonly readyEarly?: boolean;
  /** Creates under a new name after a failed call. */
  readonly newNames?: boolean;
  /** Creates on any hub, and not on the one that the journal names. */
  readonly anyHub?: boolean;
  /** Says that a cluster is gone without having destroyed it, and never looks for what is left. */
  readonly forgetOrphans?: boolean;
}

export interface WorkerWorld {
  readonly world: World;
  readonly random: Random;
  readonly network: Network;
  readonly cloud: Cloud;
  readonly bugs: WorkerBugs;
  readonly pools: readonly PoolName[];
  readonly hubs: readonly string[];
  faulty(): boolean;
  /** Where a cluster is; undefined if the books do not have it. */
  whereIs(resource: string): Where | undefined;
  /** Called when a worker asks the cloud to create something. */
  creates(instance: string): void;
  released(id: RequestId): void;
}

const ttlMs = 30_000;
const phases = ["destroying", "creating", "resuming", "stopping"] as const;
type Phase = (typeof phases)[number];

const reached: Readonly<Record<Phase, string>> = {
  creating: "free",
  resuming: "free",
  stopping: "hibernated",
  destroying: "tombstone",
};

export async function runProvisioner(name: string, at: WorkerWorld): Promise<never> {
  const { world, random } = at;
  for (;;) {
    await world.sleep(random.between(200, 3_000));
    for (const pool of at.pools) {
      for (const phase of phases) await takeOne(name, pool, phase, at);
    }
  }
}

async function takeOne(holder: string, pool: PoolName, phase: Phase, at: WorkerWorld) {
  const items = [{ pool, count: 1, state: phase, into: phase }];
  const ask = { holder, items, ttlMs };
  const call = { type: "acquire", ask, waitMs: 0, nowOnly: true } as const;
  const reply = await at.network.call(call, 3_000);
  if (reply?.type !== "outcome" || reply.outcome.type !== "granted") return;
  const { id, claims } = reply.outcome.lease;
  const [claim] = claims;
  const where = at.whereIs(claim?.resource ?? "");
  if (claim === undefined || where === undefined) return;
  await work({ id, phase, where, resource: claim.resource, claim: claim.id }, at);
}

interface Task {
  readonly id: RequestId;
  readonly phase: Phase;
  readonly where: Where;
  readonly resource: ResourceName;
  readonly claim: ClaimId;
}

/** The longest time that a worker spends on one cluster before it lets another try. */
const shiftMs = 120_000;

async function work(task: Task, at: WorkerWorld): Promise<void> {
  const { world, random } = at;
  const untilMs = world.nowMs + shiftMs;
  while (world.nowMs < untilMs) {
    if (at.faulty() && random.chance(0.03)) return; // It dies between intent and result.
    if (at.faulty() && random.chance(0.01)) await world.sleep(3 * ttlMs);
    let end: Pick<Extract<Command, { type: "release" }>, "state" | "failure"> | undefined;
    try {
      end = await advance(task, at);
    } catch (cause) {
      if (cause instanceof Violation) throw cause;
      end = { failure: String(cause) };
    }
    if (end !== undefined) return release(task.id, end, at);
    const report = { message: task.phase, progress: random.next() };
    const { id, resource } = task;
    const told = await send(at, { type: "cluster-report", id, resource, report });
    if (told?.type === "refused") return; // It has lost the lease.
    if (told?.type === "reported" && told.wanted === "destroyed" && task.phase !== "destroying") {
      return release(task.id, {}, at);
    }
    await world.sleep(random.between(1_000, 5_000));
  }
  return release(task.id, {}, at);
}

/** One step. Returns how to release the cluster, or undefined if it takes more time. */
async function advance({ phase, where }: Task, at: WorkerWorld) {
  const { cloud, bugs } = at;
  const seen = await cloud.observe(where);
  if (phase === "destroying") {
    if (bugs.forgetOrphans) return { state: "tombstone" };
    if (seen === "absent") return { state: "tombstone" };
    await cloud.call("destroy", where);
    return undefined;
  }
  if (seen === "failed") return { state: "broken", failure: "the installer failed" };
  if (phase === "creating" && seen === "absent") {
    const { instance } = where;
    const name = bugs.newNames && at.random.chance(0.3) ? `${instance}x` : instance;
    at.creates(name);
    const hub = bugs.anyHub && where.hub !== null ? at.random.pick(at.hubs) : where.hub;
    await cloud.call("create", { instance: name, hub });
    return undefined;
  }
  if (seen === "absent") return { state: "broken", failure: "the cluster is gone" };
  const isReady = seen === "ready" || (bugs.readyEarly && seen === "creating");
  if (phase === "stopping") {
    if (seen === "hibernated") return { state: reached[phase] };
    if (seen === "ready") await cloud.call("hibernate", where);
    return undefined;
  }
  if (isReady) return { state: reached[phase] };
  if (seen === "hibernated") await cloud.call("resume", where);
  return undefined;
}

async function release(
  id: RequestId,
  end: Pick<Extract<Command, { type: "release" }>, "state" | "failure">,
  at: WorkerWorld,
): Promise<void> {
  at.released(id);
  for (;;) {
    const outcome = await send(at, { type: "release", id, ...end });
    if (outcome !== undefined) return;
    await at.world.sleep(at.random.between(100, 2_000));
  }
}

async function send({ network }: WorkerWorld, command: Command): Promise<Outcome | undefined> {
  const reply = await network.call({ type: "operate", command }, 3_000);
  return reply?.type === "outcome" ? reply.outcome : undefined;
}
