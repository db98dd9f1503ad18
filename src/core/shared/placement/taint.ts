/** Taints keep requests away from a resource, unless the request tolerates them. */
export type TaintEffect = "NoSchedule" | "PreferNoSchedule";

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
}

export interface Toleration {
  /** Empty or absent with `Exists`: tolerates every taint. */
  readonly key?: string;
  /** Default: `Equal`. */
  readonly operator?: "Equal" | "Exists";
  readonly value?: string;
  /** Absent: any effect. */
  readonly effect?: TaintEffect;
}

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = "", operator = "Equal", value = "", effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (operator === "Exists") return key === "" || key === taint.key;
  return key === taint.key && value === (taint.value ?? "");
}

/** The first taint that excludes the request. */
export function shutOutBy(
  taints: readonly Taint[],
  tolerations: readonly Toleration[] = [],
): Taint | undefined {
  return taints.find((taint) => taint.effect === "NoSchedule" && !isTolerated(taint, tolerations));
}

/** The number of taints that ask the request to use another resource if possible. */
export function penalty(taints: readonly Taint[], tolerations: readonly Toleration[] = []): number {
  let count = 0;
  for (const taint of taints) {
    if (taint.effect === "PreferNoSchedule" && !isTolerated(taint, tolerations)) count += 1;
  }
  return count;
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

/** Formats a taint as people write it: `dedicated=gpu:NoSchedule`. */
export function formatTaint({ key, value, effect }: Taint): string {
  return `${key}${value === undefined ? "" : `=${value}`}:${effect}`;
}
