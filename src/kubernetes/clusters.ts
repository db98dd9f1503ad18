import { Problem } from "../api/problem.ts";
import type { ApiServer } from "./api-server.ts";
import type { KubeList, KubeObject } from "./kube-objects.ts";

/** The kind of objects that slots are for, and the tag in the names of our clusters. */
export interface ClusterKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  /** The cluster for the suffix `pr1` has the name `<tag>-pr1`. */
  readonly tag: string;
}

export interface ClusterObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
}

export const usualClusterKind = "hostedclusters.v1beta1.hypershift.openshift.io";

/**
 * Parses `plural.version.group`, as `kubectl get` accepts it. Returns undefined for another form.
 */
export function parseClusterKind(
  text: string,
): Pick<ClusterKind, "plural" | "version" | "group"> | undefined {
  const [, plural, version, group] = /^([a-z0-9]+)\.(v[0-9a-z]+)\.([a-z0-9.-]+)$/.exec(text) ?? [];
  if (plural === undefined || version === undefined || group === undefined) return undefined;
  return { plural, version, group };
}

export function clusterPath({ group, version, namespace, plural }: ClusterKind): readonly string[] {
  return ["apis", group, version, "namespaces", namespace, plural];
}

/** Returns undefined if the API server does not know the kind or does not allow us to list it. */
export async function listClusters(
  api: ApiServer,
  kind: ClusterKind,
): Promise<readonly ClusterObject[] | undefined> {
  try {
    return (await api.call<KubeList<ClusterObject>>({ path: clusterPath(kind) })).items;
  } catch (error) {
    if (error instanceof Problem && [403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

/**
 * The suffix in the name of a cluster. It must match as a whole: `pr1` does not match `pr12`.
 * Undefined if the cluster is not ours.
 */
export function suffixOf({ tag }: ClusterKind, { metadata }: KubeObject): string | undefined {
  const suffix = metadata.name.startsWith(`${tag}-`) ? metadata.name.slice(tag.length + 1) : "";
  return suffix === "" ? undefined : suffix;
}

/** The state in one word, for display. */
export function clusterState({ metadata, status }: ClusterObject): string {
  if (metadata.deletionTimestamp !== undefined) return "deleting";
  const available = status?.conditions?.find(({ type }) => type === "Available");
  return available?.status === "True" ? "available" : "creating";
}
