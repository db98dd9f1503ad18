/** The role and the space that credentials give. */
import { type Role, roles } from "../auth/roles.ts";
import type { SpaceName } from "../core/model/ids.ts";
import { nearest } from "../core/model/nearest.ts";
import { type ConfigDocument, quote, readText, type Spot } from "./document.ts";
import { textOf } from "./read-mirror.ts";
import type { Entry } from "./read-values.ts";
import { nameKind } from "./text-kinds.ts";

type Fields = ReadonlyMap<string, Entry>;

interface Access {
  readonly space: SpaceName;
  readonly role: Role;
}

export function readAccess(document: ConfigDocument, fields: Fields): Access | undefined {
  const space = textOf(document, fields, "space", nameKind);
  const role = readRole(document, fields.get("role"));
  if (space === undefined || role === undefined) return undefined;
  return { space: space as SpaceName, role };
}

export function readRole({ source }: ConfigDocument, field: Entry | undefined): Role | undefined {
  const text = field && readText(source, field.value, nameKind);
  const role = roles.find((one) => one === text);
  if (role !== undefined || field === undefined || text === undefined) return role;
  const meant = nearest(text, roles);
  const hint = meant === undefined ? `write one of ${roles.join(", ")}` : `did you mean ${meant}?`;
  source.refuse(field.value, `there is no role ${quote(text)}`, hint);
  return undefined;
}

export function requireKeys(
  { source }: ConfigDocument,
  spot: Spot,
  fields: Fields,
  keys: readonly string[],
  hint: string,
): void {
  const missing = keys.find((key) => !fields.has(key));
  if (missing !== undefined) source.refuse(spot, `it has no ${missing}`, hint);
}
