import { Problem } from "../api/problem.ts";
import type { ApiServer } from "./api-server.ts";
import type { KubeList, KubeObject } from "./kube-objects.ts";

/** Which objects are the clusters that slots are for, and how their names tell whose they are. */
export interface ClusterKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  /** The cluster of suffix `pr1` is called `<tag>-pr1`. */
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

/** As `kubectl get` takes it, plural, version and group; undefined if it is none. */
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

/** Undefined: this API server knows no such kind, or does not let us see them. */
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

/** The suffix in a cluster's name, whole: `pr1` is never found in `pr12`. Undefined: not one of ours. */
export function suffixOf({ tag }: ClusterKind, { metadata }: KubeObject): string | undefined {
  const suffix = metadata.name.startsWith(`${tag}-`) ? metadata.name.slice(tag.length + 1) : "";
  return suffix === "" ? undefined : suffix;
}

/** In a word, for people. */
export function clusterState({ metadata, status }: ClusterObject): string {
  if (metadata.deletionTimestamp !== undefined) return "deleting";
  const available = status?.conditions?.find(({ type }) => type === "Available");
  return available?.status === "True" ? "available" : "creating";
}
