/** How to say which objects are the clusters that slots are for. */
import type { Option } from "commander";
import type { ClusterKind } from "../slots/clusters.ts";
import { flag } from "./flags.ts";
import { namespaceOf, type PlaceFlags } from "./slots-flags.ts";
import { fromEnvironment, InvalidValue, matching, type Parse } from "./values.ts";

export interface ClusterFlags extends PlaceFlags {
  readonly clusterKind?: Kind;
  readonly clusterNamespace?: string;
  readonly managedBy?: string;
}

type Kind = Pick<ClusterKind, "group" | "version" | "plural">;

const usualKind = "hostedclusters.v1beta1.hypershift.openshift.io";
const name = matching(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, 63, "a name as Kubernetes has it");

/** As `kubectl get` takes it: plural, version and group. */
const kind: Parse<Kind> = (text) => {
  const [, plural, version, group] = /^([a-z0-9]+)\.(v[0-9a-z]+)\.([a-z0-9.-]+)$/.exec(text) ?? [];
  if (plural === undefined || version === undefined || group === undefined) {
    throw new InvalidValue("it is not PLURAL.VERSION.GROUP", `Write it like ${usualKind}`);
  }
  return { plural, version, group };
};

export function clusterOptions(): Option[] {
  return [
    flag("--cluster-kind <kind>", `PLURAL.VERSION.GROUP; ${usualKind} unless given`, kind),
    flag("--cluster-namespace <name>", "where the clusters are; as --namespace unless given", name),
    flag("--managed-by <tag>", "a cluster is called TAG-SUFFIX ($MANAGED_BY_TAG)", name),
  ];
}

export function clusterKindOf(flags: ClusterFlags): ClusterKind {
  return {
    ...(flags.clusterKind ?? kind(usualKind)),
    namespace: flags.clusterNamespace ?? namespaceOf(flags),
    tag: flags.managedBy ?? fromEnvironment("MANAGED_BY_TAG", name) ?? "rossoctl-hypershift-ci",
  };
}
