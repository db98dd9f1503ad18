import { nearest } from "../core/model/nearest.ts";
import { type ConfigDocument, type Place, quote, readText } from "./document.ts";
import { profilesMax } from "./limits.ts";
import { type Entry, readKnown, readNamed, readTexts } from "./read-values.ts";
import { Profile } from "./schema-profiles.ts";
import { nameKind } from "./text-kinds.ts";

/** A name for what a kind of job needs. */
export interface ProfileSpec {
  readonly name: string;
  readonly type: string;
  readonly pool: string;
  readonly ipPool?: string;
  /** Those of a set. */
  readonly members?: string[];
}

const expected = {
  title: "map of profiles",
  hint: "write { aws: { type: aws, pool: aws-slice } }",
};
const profileExpected = { title: "profile", hint: "write { type: aws, pool: aws-slice }" };
const membersExpected = { title: "list of profiles", hint: "write [aws, aws-2]", kind: nameKind };
const keys = Object.keys(Profile.properties);

/** All that they name must be there: a wrong name is found here, and not by a job at night. */
export function readProfiles(
  document: ConfigDocument,
  field: Entry | undefined,
  pools: readonly string[],
): readonly ProfileSpec[] {
  if (field === undefined) return [];
  const profiles = { ...expected, names: nameKind, max: profilesMax, of: "profiles" };
  const entries = readNamed(document, field, profiles);
  const names = entries.map(({ key }) => key);
  return entries.flatMap((entry) => readProfile(document, entry, pools, names) ?? []);
}

function readProfile(
  document: ConfigDocument,
  { key: name, at, value }: Entry,
  pools: readonly string[],
  profiles: readonly string[],
): ProfileSpec | undefined {
  const fields = readKnown(document, value, keys, profileExpected);
  if (fields === undefined) return undefined;
  const text = (key: string): string | undefined => {
    const field = fields.get(key);
    return field === undefined ? undefined : readText(document.source, field.value, nameKind);
  };
  for (const key of ["type", "pool"]) {
    if (fields.has(key)) continue;
    document.source.refuse(at, `it has no ${key}`, profileExpected.hint);
  }
  const [type, pool, ipPool] = [text("type"), text("pool"), text("ipPool")];
  const [poolField, ipField, membersField] = ["pool", "ipPool", "members"].map((k) =>
    fields.get(k),
  );
  if (pool !== undefined && poolField !== undefined) {
    mustBeKnown(document, poolField.value, { what: "pool", name: pool, known: pools });
  }
  if (ipPool !== undefined && !pools.some((known) => known.startsWith(`${ipPool}-`))) {
    const state = `no pool is called ${ipPool}-<region>`;
    document.source.refuse(ipField?.value ?? at, state, `add one, such as ${ipPool}-us-east-1`);
  }
  const members =
    membersField === undefined
      ? undefined
      : readTexts(document, membersField.value, { ...membersExpected, max: profilesMax });
  for (const member of members ?? []) {
    mustBeKnown(document, membersField?.value ?? at, {
      what: "profile",
      name: member,
      known: profiles,
    });
  }
  if (type === undefined || pool === undefined) return undefined;
  return {
    ...{ name, type, pool },
    ...(ipPool === undefined ? undefined : { ipPool }),
    ...(members === undefined ? undefined : { members }),
  };
}

interface Named {
  readonly what: string;
  readonly name: string;
  readonly known: readonly string[];
}

function mustBeKnown({ source }: ConfigDocument, at: Place, { what, name, known }: Named): void {
  if (known.includes(name)) return;
  const meant = nearest(name, known);
  const hint = meant === undefined ? `add it, or name another ${what}` : `did you mean ${meant}?`;
  source.refuse(at, `there is no ${what} ${quote(name)}`, hint);
}
