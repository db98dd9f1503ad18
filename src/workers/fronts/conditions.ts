/** Conditions of an object, and text for its status. */
import type { Condition } from "../../drivers/hub/conditions.ts";
import type { FrontObject } from "./front-kind.ts";
import { frontLimits } from "./limits.ts";

/** A condition as it should be now. */
export type Wanted = Required<Pick<Condition, "type" | "status" | "reason">> &
  Pick<Condition, "message">;

/** The conditions of the object with these in place of its own. The time changes only with the status. */
export function withConditions(
  object: FrontObject,
  wanted: readonly Wanted[],
  at: string,
): readonly Condition[] {
  const old = conditionsOf(object);
  const names = new Set<string | undefined>(wanted.map(({ type }) => type));
  const changed = wanted.map(({ message = "", ...each }) => {
    const before = old.find(({ type }) => type === each.type);
    const isSame = before?.status === each.status && before.lastTransitionTime !== undefined;
    const since = isSame ? before.lastTransitionTime : at;
    return { ...each, message: shortened(message), lastTransitionTime: since };
  });
  return [...old.filter(({ type }) => !names.has(type)), ...changed];
}

export function conditionsOf({ status }: FrontObject): readonly Condition[] {
  const found: readonly unknown[] = Array.isArray(status?.conditions) ? status.conditions : [];
  return found.filter((each): each is Condition => typeof each === "object" && each !== null);
}

/** Text of others, on one line and of bounded length. */
export function shortened(text: string, max: number = frontLimits.textLengthMax): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

/** A field of foreign content, if it is a text. */
export function textIn(from: unknown, key: string): string | undefined {
  if (typeof from !== "object" || from === null || !Object.hasOwn(from, key)) return undefined;
  const found = (from as Record<string, unknown>)[key];
  return typeof found === "string" ? found : undefined;
}

export function fieldIn(from: unknown, key: string): unknown {
  if (typeof from !== "object" || from === null || !Object.hasOwn(from, key)) return undefined;
  return (from as Record<string, unknown>)[key];
}

/** What the API server allows. */
export const objectNameMax = 253;

/** Known before a cluster is made for it: what is made beside an object has a longer name. */
export function nameTooLong(max: number): string {
  return `Cannot serve the object: its name has more than ${max} characters, and names of its Secrets are longer. Use a shorter one`;
}
