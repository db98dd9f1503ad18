/** The objects that make a namespace a small cluster of its own. */
import type { ClusterSpec } from "../driver.ts";
import type { StatusObject } from "../hub/conditions.ts";
import type { Kind } from "../hub/kind.ts";
import { labelValue, managedBy, type Owner, ownedMetadata } from "../hub/ownership.ts";

/** Its value is the template. All namespaces of the driver have it. */
export const templateLabel = "berth/template";

/** What all of them are called, inside of the namespace. */
export const partName = "berth";

export type Quota = Readonly<Record<string, string>>;

export type NamespaceObject = StatusObject;

export function namespaceOf(spec: ClusterSpec, owner: Owner): object {
  const own = {
    labels: { [templateLabel]: labelValue(spec.template) },
    annotations: spec.tags, // In full: a label is shorter.
  };
  const metadata = { name: spec.name, ...ownedMetadata(spec, owner, own) };
  return { apiVersion: "v1", kind: "Namespace", metadata };
}

interface Part {
  readonly kind: Kind;
  readonly body: object;
}

const core = { group: "", version: "v1", from: "Kubernetes" };
const rbac = { group: "rbac.authorization.k8s.io", version: "v1", from: "Kubernetes" };
const networking = { group: "networking.k8s.io", version: "v1", from: "Kubernetes" };
const quotaKind: Kind = { ...core, kind: "ResourceQuota", plural: "resourcequotas" };
const policyKind: Kind = { ...networking, kind: "NetworkPolicy", plural: "networkpolicies" };
const roleKind: Kind = { ...rbac, kind: "Role", plural: "roles" };
export const accountKind: Kind = { ...core, kind: "ServiceAccount", plural: "serviceaccounts" };
export const bindingKind: Kind = { ...rbac, kind: "RoleBinding", plural: "rolebindings" };

/** In the order in which they are made: the account is bound to its rights last. */
export function partsOf(namespace: string, quota: Quota): readonly Part[] {
  const metadata = { name: partName, labels: managedBy };
  const parts: Part[] = [
    {
      kind: policyKind,
      // Pods talk to each other and to the outside; nobody else talks to them.
      body: { metadata, spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: sameOnly } },
    },
    { kind: accountKind, body: { metadata } },
    { kind: roleKind, body: { metadata, rules: holderRules } },
    {
      kind: bindingKind,
      body: {
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: partName },
        subjects: [{ kind: "ServiceAccount", name: partName, namespace }],
      },
    },
  ];
  if (Object.keys(quota).length === 0) return parts;
  return [{ kind: quotaKind, body: { metadata, spec: { hard: quota } } }, ...parts];
}

const sameOnly = [{ from: [{ podSelector: {} }] }];
const all = ["*"];
const read = ["get", "list", "watch"];

/**
 * All that a test does in a namespace. Not among it: the quota and the network policy, other than to
 * read them, and tokens of accounts, which could outlive the lease.
 */
const holderRules = [
  {
    apiGroups: [""],
    resources: [
      ...["configmaps", "endpoints", "events", "persistentvolumeclaims", "pods", "pods/attach"],
      ...["pods/ephemeralcontainers", "pods/eviction", "pods/exec", "pods/log", "pods/portforward"],
      ...["pods/proxy", "pods/status", "podtemplates", "replicationcontrollers"],
      ...[
        "replicationcontrollers/scale",
        "secrets",
        "serviceaccounts",
        "services",
        "services/proxy",
      ],
    ],
    verbs: all,
  },
  { apiGroups: ["apps", "autoscaling", "batch", "policy"], resources: all, verbs: all },
  { apiGroups: ["networking.k8s.io"], resources: ["ingresses", "ingresses/status"], verbs: all },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: all },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: all },
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: all },
  { apiGroups: [""], resources: ["resourcequotas", "limitranges"], verbs: read },
  { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: read },
  {
    apiGroups: ["rbac.authorization.k8s.io"],
    resources: ["roles", "rolebindings"],
    verbs: read,
  },
];
