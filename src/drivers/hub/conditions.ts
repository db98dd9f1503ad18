/** Conditions, as most kinds on a hub report their state. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";

export interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface StatusObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export function conditionOf(object: StatusObject, type: string): Condition | undefined {
  return object.status?.conditions?.find((each) => each.type === type);
}

export function isTrue(object: StatusObject, type: string): boolean {
  return conditionOf(object, type)?.status === "True";
}

export function isFalse(object: StatusObject, type: string): boolean {
  return conditionOf(object, type)?.status === "False";
}

/** How long it has been so; 0 if nobody says since when. */
export function ageMs({ lastTransitionTime = "" }: Condition, nowMs: number): number {
  const since = Date.parse(lastTransitionTime);
  return Number.isNaN(since) ? 0 : Math.max(0, nowMs - since);
}

/** `Type (Reason): message`, as far as each is there. */
export function inWords({ type = "", reason = "", message = "" }: Condition): string {
  const head = reason === "" || reason === type ? type : `${type} (${reason})`;
  return message === "" ? head : `${head}: ${message}`;
}

/** What these conditions say, if their status is the given one. */
export function complaints(
  object: StatusObject,
  types: readonly string[],
  status: "True" | "False",
): readonly string[] {
  return types.flatMap((type) => {
    const found = conditionOf(object, type);
    return found?.status === status ? [inWords(found)] : [];
  });
}
