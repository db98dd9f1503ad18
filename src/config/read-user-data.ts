/**
 * Reads the initial user data of a resource, in both forms of the file. It may contain credentials,
 * so no message repeats a value.
 */
import { isMap, isScalar } from "yaml";
import { describeUserDataFault, userDataFault } from "../core/model/user-data.ts";
import { isNull, lenientMap } from "./boskos-yaml.ts";
import type { ConfigDocument, Spot } from "./document.ts";
import { type Entry, readMap } from "./read-values.ts";

export type UserData = Readonly<Record<string, string>>;

const expected = { title: "map of user data", hint: "write { region: eu-west-1 }" };

/** Returns undefined if there is none, or if it was refused. */
export function readUserData(document: ConfigDocument, spot: Spot): UserData | undefined {
  if (!isMapOrNothing(document, spot)) return undefined;
  return textsIn(document, spot, isNull(spot) ? [] : (readMap(document, spot, expected) ?? []));
}

/** Reads `userdata` of a Boskos entry: the user data of each name. */
export function readUserDataByName(document: ConfigDocument, spot: Spot): Map<string, UserData> {
  const byName = new Map<string, UserData>();
  if (!isMapOrNothing(document, spot)) return byName;
  for (const { key, value } of lenientMap(document, spot, expected)?.values() ?? []) {
    if (!isMapOrNothing(document, value)) continue;
    const fields = lenientMap(document, value, expected) ?? new Map<string, Entry>();
    const userData = textsIn(document, value, [...fields.values()]);
    if (userData !== undefined) byName.set(key, userData);
  }
  return byName;
}

function isMapOrNothing({ source }: ConfigDocument, spot: Spot): boolean {
  if (isMap(spot.node) || isNull(spot)) return true;
  source.refuse(spot, "it is not a map of user data", expected.hint);
  return false;
}

function textsIn(
  { source }: ConfigDocument,
  spot: Spot,
  entries: readonly Entry[],
): UserData | undefined {
  const userData: Record<string, string> = {};
  for (const { key, value } of entries) {
    const text = isScalar(value.node) ? value.node.value : undefined;
    if (typeof text !== "string") source.refuse(value, "its value is not text", "quote it");
    else Object.defineProperty(userData, key, { value: text, enumerable: true });
  }
  const fault = userDataFault(userData);
  if (fault !== undefined) source.refuse(spot, describeUserDataFault(fault), "fix it");
  return entries.length === 0 || fault !== undefined ? undefined : userData;
}
