/**
 * A simulated CI job: it asks and retries, waits, sends heartbeats while it works, releases or
 * dies, or sleeps longer than its ttl and continues as if nothing had happened.
 */

import type { LeaseView } from "../src/core/explain/view.ts";
import type { Ask } from "../src/core/model/command.ts";
import type { RequestId } from "../src/core/model/ids.ts";
import type { Random } from "../src/insight/forecast/random.ts";
import type { Network } from "./network.ts";
import type { Observer } from "./observer.ts";
import type { Reply } from "./server.ts";
import type { World } from "./world.ts";

export interface JobWorld {
  readonly world: World;
  readonly random: Random;
  readonly network: Network;
  readonly observer: Observer;
  /** While true, jobs may die or sleep longer than their ttl. */
  faulty(): boolean;
}

interface Grant {
  readonly lease: LeaseView;
  readonly token: string;
  readonly askedAtMs: number;
}

const callTimeoutMs = 3_000;
const pollMs = 10_000;

/** `givesUp`: whether a job that waits gives up now; without it, after some time. */
export async function runJob(
  name: string,
  ask: Ask,
  jobWorld: JobWorld,
  givesUp: (id: RequestId) => boolean = afterPatience(ask, jobWorld),
): Promise<void> {
  const { world, random, network, observer } = jobWorld;
  const grant = await obtain(name, ask, jobWorld, givesUp);
  if (grant === undefined) return;
  const held = observer.took(name, grant.lease, grant.askedAtMs + ttlOf(grant));
  if (jobWorld.faulty() && random.chance(0.1)) return; // The job dies at once and sends nothing.
  if (jobWorld.faulty() && random.chance(0.05)) void meddle(grant, jobWorld);
  const end = await work(grant, held, jobWorld);
  if (end === "died") return;
  observer.released(held);
  for (;;) {
    const reply = await network.call(
      { type: "release", id: grant.lease.id, token: grant.token },
      callTimeoutMs,
    );
    if (reply?.type === "outcome") return;
    await world.sleep(random.between(100, 2_000));
  }
}

/** The other members of a group may never come, so a job waits for them only for a limited time. */
function afterPatience(ask: Ask, { world, random }: JobWorld): () => boolean {
  const giveUpAtMs = world.nowMs + patienceOf(ask, random);
  return () => world.nowMs > giveUpAtMs;
}

function patienceOf({ group }: Ask, random: Random): number {
  if (random.chance(0.15)) return random.between(1_000, 60_000);
  const isGang = group !== undefined && group.size > 1;
  return isGang ? random.between(60_000, 1_800_000) : Number.POSITIVE_INFINITY;
}

/** Asks until a reply arrives, then waits until the request is granted, refused or cancelled. */
async function obtain(
  name: string,
  ask: Ask,
  jobWorld: JobWorld,
  givesUp: (id: RequestId) => boolean,
): Promise<Grant | undefined> {
  const { world, random, network, observer } = jobWorld;
  let known: { readonly id: RequestId; readonly token: string } | undefined;
  for (;;) {
    if (jobWorld.faulty() && random.chance(0.01)) return undefined; // The job dies while it waits.
    if (known !== undefined && givesUp(known.id)) {
      const reply = await network.call({ type: "leave", ...known }, callTimeoutMs);
      if (reply?.type === "outcome" && reply.outcome.type === "done")
        return observer.left(known.id);
      if (reply?.type === "outcome" && reply.outcome.type === "refused") return undefined;
    }
    const askedAtMs = world.nowMs;
    const waitMs = random.chance(0.5) ? pollMs : 0;
    const reply = await network.call(
      known === undefined ? { type: "acquire", ask, waitMs } : { type: "poll", ...known, waitMs },
      callTimeoutMs + waitMs,
    );
    const answer = judge(reply);
    if (answer === "over") return undefined;
    if (answer === "unknown") {
      // Without a key the job cannot ask again.
      if (known === undefined && ask.key === undefined) return undefined;
    } else {
      known = { id: answer.id, token: answer.token };
      if (answer.lease !== undefined) {
        observer.acknowledged(name, answer.lease);
        return { lease: answer.lease, token: answer.token, askedAtMs };
      }
    }
    await world.sleep(random.between(10, 3_000));
  }
}

type Fate =
  | "unknown"
  | "over"
  | { readonly id: RequestId; readonly token: string; readonly lease?: LeaseView };

function judge(reply: Reply | undefined): Fate {
  if (reply === undefined || reply.type === "unavailable") return "unknown";
  if (reply.type === "forbidden") return "over";
  const { outcome, token } = reply;
  if (outcome.type === "granted") return { id: outcome.lease.id, token, lease: outcome.lease };
  if (outcome.type === "waiting") return { id: outcome.request.id, token };
  return "over";
}

type Held = ReturnType<Observer["took"]>;

function ttlOf({ lease }: Grant): number {
  if (lease.ttlMs === null) throw new Error(`Cannot keep ${lease.id}: it has no ttl`);
  return lease.ttlMs;
}

/** Works with a heartbeat every third of the ttl. Stops when the lease may have expired. */
async function work(grant: Grant, held: Held, jobWorld: JobWorld): Promise<"done" | "died"> {
  const { world, random, network, observer } = jobWorld;
  const { lease, token } = grant;
  const ttlMs = ttlOf(grant);
  const untilMs = world.nowMs + random.between(1_000, 120_000);
  while (world.nowMs < untilMs && world.nowMs < held.believedUntilMs) {
    if (jobWorld.faulty() && random.chance(0.01)) return "died";
    const oversleeps = jobWorld.faulty() && random.chance(0.01);
    const beat = oversleeps ? ttlMs * 2 : Math.min(Math.floor(ttlMs / 3), untilMs - world.nowMs);
    await world.sleep(Math.max(1, beat));
    if (world.nowMs >= untilMs || world.nowMs >= held.believedUntilMs) break;
    const sentAtMs = world.nowMs;
    const reply = await network.call(
      { type: "renew", id: lease.id, token },
      Math.min(callTimeoutMs, Math.floor(ttlMs / 6)),
    );
    if (reply?.type !== "outcome") continue;
    if (reply.outcome.type !== "granted") break; // The server reports that the lease is lost.
    observer.renewed(held, sentAtMs + ttlMs);
    // Most jobs obey a notice; some go on until the lease is revoked.
    if (reply.outcome.lease.notice !== null && random.chance(0.7)) break;
  }
  return "done";
}

/** A faulty job: it uses its own token for another job's lease. */
async function meddle(grant: Grant, { random, network, observer }: JobWorld): Promise<void> {
  const victim = observer.anotherLease(grant.lease.id, random);
  if (victim === undefined) return;
  await network.call(
    { type: random.pick(["release", "renew"]), id: victim, token: grant.token },
    callTimeoutMs,
  );
}
