/** Helpers for tests: pools of clusters, and a worker that the test drives. */
import { Lending, operator, pool } from "../decide/lending.suite.ts";
import { type ClusterPolicy, defaultPhaseLimits, isPhase } from "../model/cluster.ts";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import type { Outcome } from "../model/outcome.ts";
import type { PoolPolicy, PoolSpec } from "../model/policy.ts";
import type { Pool } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { planPool } from "./plan.ts";
import { clustersIn, snapshotOf } from "./snapshot.ts";

const usual: ClusterPolicy = {
  template: "ocp-aws",
  revision: "r1",
  size: 0,
  running: 0,
  hibernates: true,
  limits: defaultPhaseLimits,
  parameters: { version: "4.20" },
};

/** `clusterPool("ocp", { size: 3 })` */
export function clusterPool(
  name: string,
  cluster: Partial<ClusterPolicy> = {},
  policy: Partial<PoolPolicy> = {},
): PoolSpec {
  return pool(name, 0, { ...policy, cluster: { ...usual, ...cluster } });
}

export class ClusterLending extends Lending {
  #works = 0;

  poolNamed(name = "ocp"): Pool {
    const found = this.state.pools.get(name as PoolName);
    if (found === undefined) throw new Error(`Cannot find the pool ${name}`);
    return found;
  }

  /** `ocp-1 creating, ocp-2 free` */
  stock(name = "ocp"): string {
    return clustersIn(this.poolNamed(name))
      .map((one) => `${one.name} ${one.state}`)
      .join(", ");
  }

  /** How many clusters are in each state. */
  states(name = "ocp"): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { state } of clustersIn(this.poolNamed(name))) {
      counts[state] = (counts[state] ?? 0) + 1;
    }
    return counts;
  }

  /** A worker takes the first cluster in this state. Returns the id of its lease, if it got one. */
  take(state: string, name = "ocp"): string | undefined {
    this.#works += 1;
    const id = `work-${this.#works}` as RequestId;
    const item = { pool: name as PoolName, count: 1, state, into: state };
    const ask = { holder: "provisioner", items: [item], ttlMs: 86_400_000 };
    const { type } = this.outcome({ type: "acquire", id, ask, waitMs: 0, nowOnly: true });
    return type === "granted" ? id : undefined;
  }

  /** Takes one and releases it in the state reached. Returns its name. */
  work(state: string, reached: string, name = "ocp"): string {
    const id = this.take(state, name);
    if (id === undefined) throw new Error(`Cannot work: no cluster of ${name} is ${state}`);
    const [resource] = this.held(id) ?? [];
    this.finish(id, { state: reached });
    return resource ?? "";
  }

  finish(id: string, options: { readonly state?: string; readonly failure?: string }): Outcome {
    return this.outcome({ type: "release", id: id as RequestId, ...options });
  }

  /** A worker that does everything that there is to do, at once. */
  workAll(name = "ocp"): void {
    const reached = { creating: "free", resuming: "free", stopping: "hibernated" };
    for (let found = true; found; ) {
      found = false;
      for (const { state } of clustersIn(this.poolNamed(name))) {
        if (!isPhase(state)) continue;
        const id = this.take(state, name);
        if (id === undefined) continue;
        this.finish(id, { state: state === "destroying" ? "tombstone" : reached[state] });
        found = true;
        break;
      }
      if (!this.state.pools.has(name as PoolName)) return;
    }
  }

  /** What the plan would do now. After a decision it is always empty. */
  plan(name = "ocp"): string[] {
    return planPool(snapshotOf(this.poolNamed(name), this.now)).map((action) => {
      return action.do === "create" ? "create" : `${action.do} ${action.name}`;
    });
  }

  cluster(name: string) {
    const resource = this.resource(name);
    const cluster = resource.sharing === "exclusive" ? resource.cluster : null;
    if (cluster === null) throw new Error(`Cannot find the cluster ${name}`);
    return cluster;
  }
}

type Operation = "cluster-hold" | "cluster-unhold" | "cluster-destroy" | "cluster-abandon";

export function operate(type: Operation, resource: string, forMs = 3_600_000): Command {
  const what = { resource: resource as ResourceName, reason: operator };
  return type === "cluster-hold" ? { type, ...what, forMs } : { type, ...what };
}

export const minutes = (count: number) => (count * 60_000) as Instant;
