import type { CapacityCheckSpec } from "../../config/read-admission.ts";
import { ApiServer } from "../../kubernetes/api-server.ts";
import {
  analyse,
  type CapacityFacts,
  type CapacityWish,
  needOf,
  usualNeed,
} from "../../kubernetes/capacity.ts";
import { type ClusterKind, parseClusterKind, usualClusterKind } from "../../kubernetes/clusters.ts";
import { parseToleration, times } from "../../kubernetes/pod-requests.ts";
import { readCapacity } from "../../kubernetes/read-capacity.ts";

/** What is to be found out: whether so many more fit beside what there is. */
export interface Question {
  readonly count: number;
  /** How many the pool has at all. */
  readonly size: number;
  readonly signal: AbortSignal;
}

/** The check of `berth slots check-capacity`, asked by a server. */
export class CapacityCheck {
  readonly #spec: CapacityCheckSpec;
  #api: ApiServer | undefined;

  constructor(spec: CapacityCheckSpec) {
    this.#spec = spec;
  }

  /** Why not, in words; undefined: they fit. Throws if it cannot be found out. */
  async whyNot({ count, size, signal }: Question): Promise<string | undefined> {
    const facts = await this.#facts(signal);
    const { enough, reasons } = analyse(withOthers(facts, count - 1), this.#wish(count, size));
    return enough ? undefined : reasons.join("; ");
  }

  /** After a failure the kubeconfig is read again: the token in it may be another by now. */
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
    if (kind === undefined) throw new Error(`Cannot use the kind ${clusterKind}: it is none`);
    // Whose cluster is whose does not matter here: all of them take room.
    return { ...kind, namespace, tag: "" };
  }

  #wish(count: number, size: number): CapacityWish {
    const { cpu, memory, margin, overcommit, clusters, tolerate } = this.#spec;
    const need = needOf({ cpu: cpu ?? usualNeed.cpu, memory: memory ?? usualNeed.memory });
    return {
      need: times(need, count),
      margin,
      share: overcommit,
      clustersMax: clusters ?? size,
      tolerations: tolerate.flatMap((taint) => parseToleration(taint) ?? []),
    };
  }
}

/** Those that are made together count for each other. */
function withOthers(facts: CapacityFacts, others: number): CapacityFacts {
  const quotas = facts.quotas.map((quota) => ({ ...quota, used: quota.used + others }));
  return { ...facts, clusters: facts.clusters + others, quotas };
}
