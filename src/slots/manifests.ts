import type { ClusterKind } from "../kubernetes/clusters.ts";
import type { SlotSet } from "./slot.ts";

export interface ManifestWish {
  readonly set: SlotSet;
  readonly kind: ClusterKind;
  /** So many clusters may be on their way out while all slots are taken anew. */
  readonly deleting: number;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const accounts = {
  jobs: "berth-slots",
  cleaner: "berth-slots-cleanup",
  server: "berth",
} as const;
export const quotaName = "rossoctl-ci-hostedcluster-limit";

/** A slot's cluster must fit, and so must those that are still being deleted. */
export function quotaFor({ set, deleting }: Pick<ManifestWish, "set" | "deleting">): number {
  return set.count + deleting;
}

/**
 * What an administrator applies once: the rights of a job and of the cleaner, each no larger than what
 * its commands do, and a quota on the clusters that agrees with the number of slots.
 */
export function manifestsOf(wish: ManifestWish): readonly object[] {
  const { set, kind } = wish;
  const clusters = (...verbs: string[]): Rule => ({
    apiGroups: [kind.group],
    resources: [kind.plural],
    verbs,
  });
  return [
    account(set.namespace, accounts.jobs),
    account(set.namespace, accounts.cleaner),
    ...granted(set.namespace, {
      name: "berth-slots",
      to: accounts.jobs,
      in: set.namespace,
      rules: [leases("get", "list", "watch", "create", "update", "delete")],
    }),
    ...granted(kind.namespace, {
      name: "berth-slots-clusters",
      to: accounts.jobs,
      in: set.namespace,
      rules: clusterRules(kind),
    }),
    ...granted(set.namespace, {
      name: "berth-slots-cleanup",
      to: accounts.cleaner,
      in: set.namespace,
      rules: [leases("list", "delete")],
    }),
    ...granted(kind.namespace, {
      name: "berth-slots-cleanup-clusters",
      to: accounts.cleaner,
      in: set.namespace,
      rules: [clusters("list", "delete")],
    }),
    ...granted(undefined, {
      name: "berth-slots-capacity",
      to: accounts.jobs,
      in: set.namespace,
      rules: capacityRules,
    }),
    quota(wish),
  ];
}

/** What a server needs that shows its leases there. */
export function mirrorManifestsOf(namespace: string): readonly object[] {
  const rules = [leases("get", "list", "watch", "create", "update", "delete")];
  const grant = { name: "berth-mirror", to: accounts.server, in: namespace, rules };
  return [account(namespace, accounts.server), ...granted(namespace, grant)];
}

/** What a server needs that lends pools only while there is room in the cluster. */
export function admissionManifestsOf({ set, kind }: ManifestWish): readonly object[] {
  const to = { name: "berth-admission", to: accounts.server, in: set.namespace };
  return [
    account(set.namespace, accounts.server),
    ...granted(kind.namespace, { ...to, rules: clusterRules(kind) }),
    ...granted(undefined, { ...to, rules: capacityRules }),
  ];
}

function clusterRules({ group, plural }: ClusterKind): Rule[] {
  return [
    { apiGroups: [group], resources: [plural], verbs: ["list"] },
    { apiGroups: [""], resources: ["resourcequotas"], verbs: ["list"] },
  ];
}

const capacityRules: readonly Rule[] = [
  { apiGroups: [""], resources: ["nodes", "pods"], verbs: ["list"] },
  { apiGroups: ["autoscaling.openshift.io"], resources: ["machineautoscalers"], verbs: ["list"] },
];

function leases(...verbs: string[]): Rule {
  return { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs };
}

function account(namespace: string, name: string): object {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
}

interface Grant {
  readonly name: string;
  readonly to: string;
  readonly in: string;
  readonly rules: readonly Rule[];
}

/** Without a namespace for the whole cluster, which nodes and the pods of all others need. */
function granted(namespace: string | undefined, { name, to, rules, ...grant }: Grant): object[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const whole = namespace === undefined ? "Cluster" : "";
  const metadata = namespace === undefined ? { name } : { name, namespace };
  return [
    { apiVersion, kind: `${whole}Role`, metadata, rules },
    {
      apiVersion,
      kind: `${whole}RoleBinding`,
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: `${whole}Role`, name },
      subjects: [{ kind: "ServiceAccount", name: to, namespace: grant.in }],
    },
  ];
}

function quota(wish: ManifestWish): object {
  const { group, plural, namespace } = wish.kind;
  return {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: quotaName, namespace },
    spec: { hard: { [`count/${plural}.${group}`]: String(quotaFor(wish)) } },
  };
}
