import type { ClaimView, LeaseView } from "../../core/explain/view.ts";
import { timestamp } from "../timestamp.ts";

/** A resource as Boskos shows it to the one that has just taken it. */
export function boskosResource(lease: LeaseView, claim: ClaimView): object {
  return {
    type: claim.pool,
    name: claim.resource,
    state: claim.state,
    owner: lease.holder,
    lastupdate: goTime(lease.seenAt),
    userdata: sorted(claim.userData),
    ...(claim.expiresAt === null ? undefined : { "expiration-date": goTime(claim.expiresAt) }),
  };
}

/** RFC 3339 without trailing zeros. */
function goTime(instant: Parameters<typeof timestamp>[0]): string {
  return timestamp(instant).replace(/\.?0*Z$/, "Z");
}

/** Keys in order, as Go writes maps. */
export function sorted<Value>(entries: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
};

/** JSON as Go writes it: safe to be put into a page. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&]/g, (character) => escapes[character] ?? character);
}
