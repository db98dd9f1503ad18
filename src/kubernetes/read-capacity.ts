import { Problem } from "../api/problem.ts";
import type { ApiServer } from "./api-server.ts";
import type { AutoscalerObject, CapacityFacts, QuotaState } from "./capacity.ts";
import { type ClusterKind, type ClusterObject, clusterPath, suffixOf } from "./clusters.ts";
import type { KubeList, KubeObject } from "./kube-objects.ts";
import type { NodeObject } from "./nodes.ts";
import type { PodObject, Quantities } from "./pod-requests.ts";
import { parseQuantity } from "./quantity.ts";

/** A cluster may have tens of thousands of pods, so they are read in pages of this size. */
const pageSize = 500;

interface QuotaObject extends KubeObject {
  readonly status?: { readonly hard?: Quantities; readonly used?: Quantities };
  readonly spec?: { readonly hard?: Quantities };
}

interface ReadOptions {
  /**
   * The suffix of the cluster that will be created. An older cluster with this suffix is deleted
   * first, so it does not count.
   */
  readonly suffix?: string;
  readonly signal?: AbortSignal;
}

export async function readCapacity(
  api: ApiServer,
  kind: ClusterKind,
  { suffix = "", signal }: ReadOptions,
): Promise<CapacityFacts> {
  const all = <Item>(path: readonly string[], query = {}) => allOf<Item>(api, path, query, signal);
  const alive = { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" };
  const autoscalers = ["apis", "autoscaling.openshift.io", "v1beta1", "machineautoscalers"];
  const quotas = ["api", "v1", "namespaces", kind.namespace, "resourcequotas"];
  const [nodes, pods, scalers, clusters, limits] = await Promise.all([
    all<NodeObject>(["api", "v1", "nodes"]),
    all<PodObject>(["api", "v1", "pods"], alive),
    ifKnown(all<AutoscalerObject>(autoscalers)),
    // A 403 must fail: if we may not list the clusters, their number is unknown, not 0.
    ifKnown(all<ClusterObject>(clusterPath(kind)), [404]),
    ifKnown(all<QuotaObject>(quotas)),
  ]);
  const others = clusters.filter((each) => suffixOf(kind, each) !== suffix);
  return {
    nodes,
    pods,
    autoscalers: scalers,
    clusters: others.length,
    quotas: limits.flatMap((quota) => quotaState(kind, quota)),
  };
}

async function allOf<Item>(
  api: ApiServer,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let next: string | undefined; ; ) {
    const page = await api.call<KubeList<Item>>({
      path,
      query: { ...query, limit: pageSize, continue: next },
      signal,
    });
    items.push(...page.items);
    next = page.metadata.continue || undefined;
    if (next === undefined) return items;
  }
}

/** Not every cluster has autoscalers, or quotas that we may read. */
async function ifKnown<Item>(reading: Promise<Item[]>, none = [403, 404]): Promise<Item[]> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem && none.includes(error.status)) return [];
    throw error;
  }
}

/**
 * The limit of a quota for our kind. A controller counts the usage, and may not have done so yet.
 */
function quotaState({ group, plural }: ClusterKind, quota: QuotaObject): QuotaState[] {
  const key = `count/${plural}.${group}`;
  const hard = parseQuantity(quota.spec?.hard?.[key] ?? "");
  if (hard === undefined) return [];
  const used = parseQuantity(quota.status?.used?.[key] ?? "0") ?? 0;
  return [{ name: quota.metadata.name, hard, used }];
}
