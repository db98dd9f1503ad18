/** Helpers for tests of hubs: pools of clusters on hubs that a test probes, cuts off and cordons. */
import { operator } from "../decide/lending.suite.ts";
import type { Reason } from "../model/command.ts";
import type { HubFindings, HubSpec, HubState } from "../model/hub.ts";
import type { Outcome } from "../model/outcome.ts";
import type { PoolSpec } from "../model/policy.ts";
import { ClusterLending } from "./clusters.suite.ts";
import { clustersIn } from "./snapshot.ts";

/** `hub("east", 2)`: a hub with room for two clusters. */
export function hub(name: string, limit?: number, more: Partial<HubSpec> = {}): HubSpec {
  return { name, labels: {}, ...(limit === undefined ? undefined : { limit }), ...more };
}

export class HubLending extends ClusterLending {
  readonly #hubs: readonly HubSpec[];

  /** All hubs are probed, unless the test does it. */
  constructor(hubs: readonly HubSpec[], pools: readonly PoolSpec[], { probed = true } = {}) {
    super();
    this.#hubs = hubs;
    this.define(...pools);
    if (probed) for (const { name } of hubs) this.probe(name);
  }

  define(...pools: readonly PoolSpec[]): Outcome {
    return this.outcome({ type: "configure", pools, hubs: this.#hubs });
  }

  probe(name: string, findings: HubFindings & { readonly error?: string } = {}): Outcome {
    return this.outcome({ type: "hub-probed", hub: name, ...findings });
  }

  cut(name: string, error = "connect ECONNREFUSED"): Outcome {
    return this.probe(name, { error });
  }

  set(name: string, state: HubState, reason: Reason = operator): Outcome {
    return this.outcome({ type: "hub-set", hub: name, state, reason });
  }

  /** `ocp-1 creating east, ocp-2 free west` */
  placed(name = "ocp"): string {
    return clustersIn(this.poolNamed(name))
      .map((one) => `${one.name} ${one.state} ${one.cluster.hub}`)
      .join(", ");
  }
}
