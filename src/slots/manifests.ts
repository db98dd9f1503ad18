import type { ClusterKind } from "../kubernetes/clusters.ts";
import type { SlotSet } from "./slot.ts";

export interface ManifestOptions {
  readonly set: SlotSet;
  readonly kind: ClusterKind;
  /** How many clusters may still be in deletion while all slots are in use again. */
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
export const quotaName = "berth-slots-cluster-limit";

/**
 * The quota must allow one cluster for each slot, and the clusters that are still being deleted.
 */
export function quotaFor({ set, deleting }: Pick<ManifestOptions, "set" | "deleting">): number {
  return set.count + deleting;
}

/**
 * The objects that an administrator applies once: minimal rights for jobs and for the cleanup, and
 * a quota for the clusters that matches the number of slots.
 */
export function manifestsOf(options: ManifestOptions): readonly object[] {
  const { set, kind } = options;
  const clusters = (...verbs: string[]): Rule => ({
    apiGroups: [kind.group],
    resources: [kind.plural],
    verbs,
  });
  return [
    account(set.namespace, accounts.jobs),
    account(set.namespace, accounts.cleaner),
    ...roleAndBinding(set.namespace, {
      name: "berth-slots",
      account: accounts.jobs,
      accountNamespace: set.namespace,
      rules: [leases("get", "list", "watch", "create", "update", "delete")],
    }),
    ...roleAndBinding(kind.namespace, {
      name: "berth-slots-clusters",
      account: accounts.jobs,
      accountNamespace: set.namespace,
      rules: clusterRules(kind),
    }),
    ...roleAndBinding(set.namespace, {
      name: "berth-slots-cleanup",
      account: accounts.cleaner,
      accountNamespace: set.namespace,
      rules: [leases("list", "delete")],
    }),
    ...roleAndBinding(kind.namespace, {
      name: "berth-slots-cleanup-clusters",
      account: accounts.cleaner,
      accountNamespace: set.namespace,
      rules: [clusters("list", "delete")],
    }),
    ...roleAndBinding(undefined, {
      name: "berth-slots-capacity",
      account: accounts.jobs,
      accountNamespace: set.namespace,
      rules: capacityRules,
    }),
    quota(options),
  ];
}

/** The rights of a server that mirrors its leases to this namespace. */
export function mirrorManifestsOf(namespace: string): readonly object[] {
  const rules = [leases("get", "list", "watch", "create", "update", "delete")];
  const subject = { account: accounts.server, accountNamespace: namespace };
  const grant = { name: "berth-mirror", ...subject, rules };
  return [account(namespace, accounts.server), ...roleAndBinding(namespace, grant)];
}

/** The rights of a server whose pools have admission by the capacity of the cluster. */
export function admissionManifestsOf({ set, kind }: ManifestOptions): readonly object[] {
  const subject = { account: accounts.server, accountNamespace: set.namespace };
  const grant = { name: "berth-admission", ...subject };
  return [
    account(set.namespace, accounts.server),
    ...roleAndBinding(kind.namespace, { ...grant, rules: clusterRules(kind) }),
    ...roleAndBinding(undefined, { ...grant, rules: capacityRules }),
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
  readonly account: string;
  readonly accountNamespace: string;
  readonly rules: readonly Rule[];
}

/**
 * Creates a role and its binding. Without a namespace, the role is for the whole cluster, which
 * nodes and the pods of other namespaces require.
 */
function roleAndBinding(namespace: string | undefined, grant: Grant): object[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const scope = namespace === undefined ? "Cluster" : "";
  const name = namespace === grant.accountNamespace ? grant.name : sharedName(grant);
  const metadata = namespace === undefined ? { name } : { name, namespace };
  const subject = { name: grant.account, namespace: grant.accountNamespace };
  return [
    { apiVersion, kind: `${scope}Role`, metadata, rules: grant.rules },
    {
      apiVersion,
      kind: `${scope}RoleBinding`,
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: `${scope}Role`, name },
      subjects: [{ kind: "ServiceAccount", ...subject }],
    },
  ];
}

/**
 * A name outside of the account's own namespace contains that namespace. Otherwise the manifests for a
 * second namespace would overwrite the binding of the first one and remove its rights.
 */
function sharedName({ name, accountNamespace }: Grant): string {
  return `${name}-${accountNamespace}`;
}

function quota(options: ManifestOptions): object {
  const { group, plural, namespace } = options.kind;
  return {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: quotaName, namespace },
    spec: { hard: { [`count/${plural}.${group}`]: String(quotaFor(options)) } },
  };
}
