/** The objects that make a namespace a small cluster of its own. */
import { createHash } from "node:crypto";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import type { ClusterSpec } from "../driver.ts";

export const instanceKey = "berth/instance";
export const specKey = "berth/spec";
/** Its value is the template. All namespaces of the driver have it. */
export const templateLabel = "berth/template";
const managedBy = { "app.kubernetes.io/managed-by": "berth" };

/** What all of them are called, inside of the namespace. */
export const partName = "berth";

export type Quota = Readonly<Record<string, string>>;

export interface NamespaceObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type?: string;
      readonly status?: string;
      readonly message?: string;
    }[];
  };
}

export function namespaceOf(spec: ClusterSpec): object {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: spec.name,
      labels: { ...managedBy, [templateLabel]: labelValue(spec.template) },
      annotations: {
        ...Object.fromEntries(Object.entries(spec.tags).map(([key, value]) => [key, value])),
        [instanceKey]: spec.instance,
        [specKey]: specHash(spec),
      },
    },
  };
}

/** Two calls for one cluster must agree on this. */
export function specHash({ template, revision, parameters }: ClusterSpec): string {
  const sorted = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([template, revision, sorted]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** A label is shorter than a template's name may be, and has fewer characters. */
function labelValue(text: string): string {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(text)) return text;
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}

interface Part {
  /** Below the namespace: `api/v1` and so on come before it. */
  readonly root: readonly string[];
  readonly plural: string;
  readonly body: object;
}

const core = ["api", "v1"];
const rbac = ["apis", "rbac.authorization.k8s.io", "v1"];
const networking = ["apis", "networking.k8s.io", "v1"];

/** In the order in which they are made: the account is bound to its rights last. */
export function partsOf(namespace: string, quota: Quota): readonly Part[] {
  const metadata = { name: partName, labels: managedBy };
  const parts: Part[] = [
    {
      root: networking,
      plural: "networkpolicies",
      // Pods talk to each other and to the outside; nobody else talks to them.
      body: { metadata, spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: sameOnly } },
    },
    { root: core, plural: "serviceaccounts", body: { metadata } },
    { root: rbac, plural: "roles", body: { metadata, rules: holderRules } },
    {
      root: rbac,
      plural: "rolebindings",
      body: {
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: partName },
        subjects: [{ kind: "ServiceAccount", name: partName, namespace }],
      },
    },
  ];
  if (Object.keys(quota).length === 0) return parts;
  const limited = {
    root: core,
    plural: "resourcequotas",
    body: { metadata, spec: { hard: quota } },
  };
  return [limited, ...parts];
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
