/**
 * A cloud in which clusters are made, behind a driver that fails, loses replies, hangs and lies. What
 * it does late it still does: a call may come back after its worker has given up.
 */
import type { Random } from "../src/insight/forecast/random.ts";
import { assertInvariant } from "./violation.ts";
import type { World } from "./world.ts";

export type CloudPhase = "creating" | "ready" | "stopping" | "hibernated" | "resuming" | "failed";

interface CloudCluster {
  phase: CloudPhase;
  /** When a transition ends, and in what. */
  doneAtMs: number;
  next: CloudPhase | null;
  readonly bornAtMs: number;
}

type Verb = "create" | "hibernate" | "resume" | "destroy";

/** A cluster by its instance, and the hub that the worker calls; null: there are none. */
export interface Where {
  readonly instance: string;
  readonly hub: string | null;
}

export class Cloud {
  readonly #world: World;
  readonly #random: Random;
  readonly #faulty: () => boolean;
  readonly #clusters = new Map<string, CloudCluster>();
  /** Every cluster that was ready once, and every one that was told to go. */
  readonly everReady = new Set<string>();
  readonly told = new Set<string>();
  /** Hubs that cannot be reached while there are faults. */
  readonly cutOff = new Set<string>();
  readonly #madeOn = new Map<string, string | null>();

  constructor(world: World, random: Random, faulty: () => boolean) {
    this.#world = world;
    this.#random = random;
    this.#faulty = faulty;
  }

  /** What exists, with its age. Never lies: it asks another service. */
  list(): Map<string, number> {
    const ages = Array.from(this.#clusters, ([instance, { bornAtMs }]) => {
      return [instance, this.#world.nowMs - bornAtMs] as const;
    });
    return new Map(ages);
  }

  /** The truth. */
  phaseOf(instance: string): CloudPhase | "absent" {
    const cluster = this.#clusters.get(instance);
    if (cluster === undefined) return "absent";
    if (cluster.next !== null && cluster.doneAtMs <= this.#world.nowMs) {
      cluster.phase = cluster.next;
      cluster.next = null;
    }
    if (cluster.phase === "ready") this.everReady.add(instance);
    return cluster.phase;
  }

  isCutOff(hub: string | null): boolean {
    return hub !== null && this.#faulty() && this.cutOff.has(hub);
  }

  /** What the driver says. Now and then a cluster that exists is not found. */
  async observe({ instance, hub }: Where): Promise<CloudPhase | "absent"> {
    await this.#world.sleep(this.#random.between(10, 500));
    if (this.isCutOff(hub)) throw new Error("the hub cannot be reached");
    if (this.#faulty() && this.#random.chance(0.05)) throw new Error("the cloud does not answer");
    const phase = this.phaseOf(instance);
    const lies = this.#faulty() && this.#random.chance(0.03) && phase !== "ready";
    return lies ? "absent" : phase;
  }

  /** Rejects if the worker learns nothing, whatever has happened. */
  async call(verb: Verb, { instance, hub }: Where): Promise<void> {
    const random = this.#random;
    await this.#world.sleep(random.between(10, 500));
    if (this.isCutOff(hub)) throw new Error("the hub cannot be reached");
    if (verb === "create") this.#createsOn(instance, hub);
    if (this.#faulty() && random.chance(0.1)) throw new Error("no capacity in the zone");
    if (this.#faulty() && random.chance(0.03)) {
      this.#world.after(random.between(60_000, 7_200_000), () => this.#take(verb, instance));
      throw new Error("the call timed out");
    }
    this.#take(verb, instance);
    if (this.#faulty() && random.chance(0.05)) throw new Error("the reply was lost");
  }

  /** Somebody deletes a cluster by hand. */
  lose(instance: string): void {
    this.#clusters.delete(instance);
  }

  #take(verb: Verb, instance: string): void {
    const random = this.#random;
    const phase = this.phaseOf(instance);
    if (verb === "destroy") {
      this.told.add(instance);
      this.#clusters.delete(instance);
    } else if (verb === "create" && phase === "absent") {
      const fails = this.#faulty() && random.chance(0.1);
      const doneAtMs = this.#world.nowMs + random.between(5_000, 60_000);
      this.#clusters.set(instance, {
        phase: "creating",
        ...{ doneAtMs, next: fails ? "failed" : "ready", bornAtMs: this.#world.nowMs },
      });
    } else if (verb === "hibernate" && phase === "ready") {
      this.#turn(instance, "stopping", "hibernated");
    } else if (verb === "resume" && phase === "hibernated") {
      // Some never wake up.
      const hangs = this.#faulty() && random.chance(0.1);
      this.#turn(instance, "resuming", "ready", hangs ? Number.POSITIVE_INFINITY : undefined);
    }
  }

  /** One intent is carried out on one hub, whatever happens to it. */
  #createsOn(instance: string, hub: string | null): void {
    const before = this.#madeOn.get(instance) ?? hub;
    assertInvariant(before === hub, () => `${instance} was made on ${before}, and now on ${hub}`);
    this.#madeOn.set(instance, hub);
  }

  #turn(
    instance: string,
    phase: CloudPhase,
    next: CloudPhase,
    durationMs: number = this.#random.between(2_000, 30_000),
  ): void {
    const cluster = this.#clusters.get(instance);
    if (cluster === undefined) return;
    Object.assign(cluster, { phase, next, doneAtMs: this.#world.nowMs + durationMs });
  }
}
