import type { CapacityCheckSpec } from "../../config/read-admission.ts";
import { ApiServer } from "../../kubernetes/api-server.ts";
import {
  analyse,
  type CapacityFacts,
  type CapacityRequirements,
  defaultNeed,
  needOf,
} from "../../kubernetes/capacity.ts";
import { type ClusterKind, parseClusterKind, usualClusterKind } from "../../kubernetes/clusters.ts";
import { parseToleration, times } from "../../kubernetes/pod-requests.ts";
import { readCapacity } from "../../kubernetes/read-capacity.ts";

/** Asks whether `count` more resources of a pool fit into the cluster. */
export interface CapacityQuestion {
  readonly count: number;
  /** The number of resources in the pool. */
  readonly size: number;
  readonly signal: AbortSignal;
}

/** The same check as `berth slots check-capacity`, run by a server. */
export class CapacityCheck {
  readonly #spec: CapacityCheckSpec;
  #api: ApiServer | undefined;

  constructor(spec: CapacityCheckSpec) {
    this.#spec = spec;
  }

  /**
   * Returns the reason why they do not fit, or undefined if they fit. Throws if the check fails.
   */
  async whyNot({ count, size, signal }: CapacityQuestion): Promise<string | undefined> {
    const facts = await this.#facts(signal);
    const { enough, reasons } = analyse(
      withOthers(facts, count - 1),
      this.#requirements(count, size),
    );
    return enough ? undefined : reasons.join("; ");
  }

  /**
   * After a failure, the next check reads the kubeconfig again, because it may contain a new token.
   */
  async #facts(signal: AbortSignal): Promise<CapacityFacts> {
    try {
      this.#api ??= await ApiServer.connect(this.#spec);
      return await readCapacity(this.#api, this.#kind(), { signal });
    } catch (error) {
      this.#api = undefined;
      throw error;
    }
  }

  #kind(): ClusterKind {
    const { clusterKind = usualClusterKind, clusterNamespace: namespace } = this.#spec;
    const kind = parseClusterKind(clusterKind);
    if (kind === undefined)
      throw new Error(
        `Cannot parse the cluster kind ${clusterKind}: it is not plural.version.group`,
      );
    // The check counts the clusters of all owners, so it needs no tag.
    return { ...kind, namespace, tag: "" };
  }

  #requirements(count: number, size: number): CapacityRequirements {
    const { cpu, memory, margin, overcommit, clusters, tolerate } = this.#spec;
    const need = needOf({ cpu: cpu ?? defaultNeed.cpu, memory: memory ?? defaultNeed.memory });
    return {
      need: times(need, count),
      margin,
      share: overcommit,
      clustersMax: clusters ?? size,
      tolerations: tolerate.flatMap((taint) => parseToleration(taint) ?? []),
    };
  }
}

/** Several resources that are granted together count against each other. */
function withOthers(facts: CapacityFacts, others: number): CapacityFacts {
  const quotas = facts.quotas.map((quota) => ({ ...quota, used: quota.used + others }));
  return { ...facts, clusters: facts.clusters + others, quotas };
}
