/** Warns of `auth` and `spaces` that are valid, but let nobody in or have no effect. */
import { isMap, isNode } from "yaml";
import type { AuthSpec } from "../auth/auth-spec.ts";
import { mayDo, type Role } from "../auth/roles.ts";
import { nearest } from "../core/model/nearest.ts";
import type { SpacesSpec } from "../core/model/space.ts";
import { type ConfigDocument, type Path, type Place, quote } from "./document.ts";
import type { Entry } from "./read-values.ts";

export interface AccessFields {
  readonly auth: Entry | undefined;
  readonly spaces: Entry | undefined;
  readonly spaceDefaults: Entry | undefined;
}

interface Access extends AccessFields {
  readonly parsed: { readonly auth: AuthSpec | undefined; readonly spaces: SpacesSpec };
  /** The pools that take leases back for requests of a higher priority. */
  readonly preempting?: readonly string[];
}

/** Warnings are shown only if nothing was refused, so that `parsed` has every entry of the file. */
export function warnOfAccess(document: ConfigDocument, access: Access): void {
  const { auth: field, spaces, spaceDefaults, parsed } = access;
  const { source } = document;
  const unused = spaces ?? spaceDefaults;
  if (field === undefined && unused !== undefined) {
    const state = "it has no effect without auth, because only credentials give a space";
    source.warn(unused.at, state, "add auth, or remove it");
  }
  if (field === undefined || parsed.auth === undefined) return;
  warnOfNobody(document, field, parsed.auth);
  warnOfExpiry(document, field, parsed.auth);
  warnOfUnknownSpaces(document, field, parsed.auth, parsed.spaces);
  warnOfPreemption(document, unused ?? field, parsed.spaces, access.preempting ?? []);
}

/** Nobody needs to hold anything for that: the request may leave before it is granted. */
function warnOfPreemption(
  { source }: ConfigDocument,
  field: Entry,
  { spaces, others }: SpacesSpec,
  [pool]: readonly string[],
): void {
  const anyPriority = spaces.find(({ policy }) => policy.priorityMax === undefined);
  const isOpen = others !== null && others.priorityMax === undefined;
  if (pool === undefined || (anyPriority === undefined && !isOpen)) return;
  const who = anyPriority === undefined ? "a space that is not listed" : quote(anyPriority.name);
  const state = `requests of ${who} may have any priority, and so end the leases of others in ${pool}`;
  source.warn(field.at, state, "give each space a priority, and spaceDefaults too");
}

function warnOfNobody({ source }: ConfigDocument, field: Entry, auth: AuthSpec): void {
  const { tokens, issuers = [], certificates = [], anonymous } = auth;
  if (anonymous !== undefined || [...tokens, ...issuers, ...certificates].length > 0) return;
  const hint = "add tokens (berth token new prints a line), issuers, certificates or anonymous";
  source.warn(field.at, "nobody can call the server", hint);
}

function warnOfExpiry({ source }: ConfigDocument, field: Entry, { tokens }: AuthSpec): void {
  for (const [index, { expiresAtMs, name }] of tokens.entries()) {
    if (expiresAtMs === undefined || expiresAtMs > Date.now()) continue;
    const place = placeOf(field, ["tokens", index, "expires"]);
    const hint = "remove its line, or replace the token: berth token new";
    source.warn(place, `the token of ${quote(name)} has expired`, hint);
  }
}

function warnOfUnknownSpaces(
  { source }: ConfigDocument,
  field: Entry,
  auth: AuthSpec,
  { spaces, others }: SpacesSpec,
): void {
  if (others !== null) return;
  const known: readonly string[] = spaces.map(({ name }) => name);
  for (const [path, space] of spacesOf(auth)) {
    if (known.includes(space)) continue;
    const meant = nearest(space, known);
    const hint =
      meant === undefined ? "add it to spaces, or add spaceDefaults" : `did you mean ${meant}?`;
    const state = `spaces has no ${quote(space)}, so that its requests are refused`;
    source.warn(placeOf(field, [...path, "space"]), state, hint);
  }
}

/**
 * Those of callers who may ask for leases. The space of a rule may have claims in braces. Then it is
 * known only when a token comes.
 */
function spacesOf(auth: AuthSpec): [Path, string][] {
  const { tokens, issuers = [], certificates = [], anonymous } = auth;
  return [
    ...tokens.flatMap(asks("tokens")),
    ...certificates.flatMap(asks("certificates")),
    ...issuers.flatMap(({ rules }, issuer) => rules.flatMap(asks("issuers", issuer, "rules"))),
    ...(anonymous === undefined ? [] : [[["anonymous"], anonymous.space] as [Path, string]]),
  ];
}

function asks(...path: Path) {
  return (
    { space, role }: { readonly space: string; readonly role: Role },
    index: number,
  ): [Path, string][] =>
    mayDo(role, "ask") && !space.includes("{") ? [[[...path, index], space]] : [];
}

/** The place of a value below the field; behind an alias, the place of the field itself. */
function placeOf({ value }: Entry, keys: Path): Place {
  const node: unknown = isMap(value.node) ? value.node.getIn(keys, true) : undefined;
  const offset = isNode(node) ? node.range?.[0] : undefined;
  return { path: [...value.path, ...keys], offset: offset ?? value.offset };
}
