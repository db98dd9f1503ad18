/** What everything of a cluster in its cloud should carry: it is found there without the hub. */
import type { ClusterSpec } from "../driver.ts";
import { expiresAt, type Owner } from "./ownership.ts";

/** The tag by which reapers of clouds know what nobody needs any longer. */
const expiryTag = "expirationDate";
const valueLengthMax = 256;
/** AWS refuses other characters, and the whole cluster with them. */
const refused = /[^\p{L}\p{Z}\p{N}_.:/=+\-@]/gu;

export function cloudTags(
  { instance, tags }: ClusterSpec,
  owner: Owner,
): Readonly<Record<string, string>> {
  const expires = expiresAt(owner);
  const all = {
    ...tags,
    ...{ "berth-instance": instance, "berth-broker": owner.broker },
    ...(expires && { [expiryTag]: expires.toISOString() }),
  };
  const clean = (value: string) => value.replaceAll(refused, "_").slice(0, valueLengthMax);
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, clean(value)]));
}
