import type { KubeObject } from "./kube-objects.ts";
import type { Quantities, Toleration } from "./pod-requests.ts";

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly allocatable?: Quantities;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

const controlPlane = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/**
 * Whether the scheduler could place a pod with these tolerations on the node now. Excludes control
 * planes and cordoned nodes.
 */
export function isEligible(node: NodeObject, tolerations: readonly Toleration[]): boolean {
  const labels = node.metadata.labels ?? {};
  if (controlPlane.some((label) => label in labels)) return false;
  if (node.spec?.unschedulable) return false;
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready !== undefined && ready.status !== "True") return false;
  return (node.spec?.taints ?? [])
    .filter(({ effect }) => effect !== "PreferNoSchedule")
    .every((taint) => tolerations.some((toleration) => isTolerated(taint, toleration)));
}

export function isTolerated(taint: Taint, { key, operator, value, effect }: Toleration): boolean {
  if (effect !== undefined && effect !== "" && effect !== taint.effect) return false;
  if (key === undefined || key === "") return operator === "Exists";
  if (key !== taint.key) return false;
  return operator === "Exists" || (value ?? "") === (taint.value ?? "");
}

/** Whether the scheduler could place this pending pod on the node. */
export function mayGoTo(
  node: NodeObject,
  { nodeSelector = {} }: { readonly nodeSelector?: Readonly<Record<string, string>> },
): boolean {
  const labels = node.metadata.labels ?? {};
  return Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);
}
