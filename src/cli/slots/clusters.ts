/** The flags that identify the cluster objects that slots are for. */
import type { Option } from "commander";
import { type ClusterKind, parseClusterKind, usualClusterKind } from "../../kubernetes/clusters.ts";
import { flag } from "../flags.ts";
import { fromEnvironment, InvalidValue, matching, type Parse } from "../values.ts";
import { type KubeFlags, namespaceOf } from "./flags.ts";

export interface ClusterFlags extends KubeFlags {
  readonly clusterKind?: Kind;
  readonly clusterNamespace?: string;
  readonly managedBy?: string;
}

type Kind = Pick<ClusterKind, "group" | "version" | "plural">;

const name = matching(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, 63, "a name as Kubernetes has it");

const kind: Parse<Kind> = (text) => {
  const parsed = parseClusterKind(text);
  if (parsed !== undefined) return parsed;
  throw new InvalidValue("it is not PLURAL.VERSION.GROUP", `Write it like ${usualClusterKind}`);
};

export function clusterOptions(): Option[] {
  return [
    flag("--cluster-kind <kind>", `PLURAL.VERSION.GROUP; default ${usualClusterKind}`, kind),
    flag("--cluster-namespace <name>", "namespace of the clusters; default: --namespace", name),
    flag("--managed-by <tag>", "clusters are named TAG-SUFFIX ($MANAGED_BY_TAG, else berth)", name),
  ];
}

export function clusterKindOf(flags: ClusterFlags): ClusterKind {
  return {
    ...(flags.clusterKind ?? kind(usualClusterKind)),
    namespace: flags.clusterNamespace ?? namespaceOf(flags),
    tag: flags.managedBy ?? fromEnvironment("MANAGED_BY_TAG", name) ?? "berth",
  };
}
