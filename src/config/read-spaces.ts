import type { SpaceName } from "../core/model/ids.ts";
import { nearest } from "../core/model/nearest.ts";
import {
  anySpace,
  defaultSpacePolicy,
  matchesPattern,
  type SpacePolicy,
  type SpacesSpec,
} from "../core/model/space.ts";
import { type ConfigDocument, quote, type Spot } from "./document.ts";
import type { KnownPools } from "./known-pools.ts";
import { spaceLimits } from "./limits.ts";
import { readCohort, refuseCohort, warnOfLoneCohorts } from "./read-cohort.ts";
import { defined, readQuotas } from "./read-quotas.ts";
import {
  type Entry,
  optionalNumber,
  readDuration,
  readKnown,
  readNamed,
  readTexts,
} from "./read-values.ts";
import { Space } from "./schema-spaces.ts";
import { nameKind, poolPatternKind } from "./text-kinds.ts";

const expected = { title: "map of spaces", hint: "write { payments: { weight: 2 } }" };
const spaceExpected = { title: "space", hint: "write { weight: 2, quota: { aws-account: 2 } }" };
const patternsExpected = { title: "list of pools", hint: "write [aws-*, gcp]" };
const keys = Object.keys(Space.properties);

/** Every space is allowed if the file has neither `spaces` nor `spaceDefaults`. */
export function readSpaces(
  document: ConfigDocument,
  field: Entry | undefined,
  defaults: Entry | undefined,
  pools: KnownPools,
): SpacesSpec {
  if (field === undefined && defaults === undefined) return anySpace;
  const named = { ...expected, names: nameKind, max: spaceLimits.spacesMax, of: "spaces" };
  const entries = field === undefined ? [] : readNamed(document, field, named);
  const spaces = entries.map(({ key, value }) => {
    return { name: key as SpaceName, policy: readSpace(document, value, pools) };
  });
  if (defaults !== undefined) refuseCohort(document, defaults);
  warnOfLoneCohorts(document, field, spaces);
  return { spaces, others: defaults ? readSpace(document, defaults.value, pools) : null };
}

function readSpace(document: ConfigDocument, spot: Spot, pools: KnownPools): SpacePolicy {
  if (spot.node === null || String(spot.node) === "null") return defaultSpacePolicy;
  const fields = readKnown(document, spot, keys, spaceExpected);
  if (fields === undefined) return defaultSpacePolicy;
  const { weightMin, weightMax, waitingMax } = spaceLimits;
  const weight = optionalNumber(document, fields.get("weight"), { min: weightMin, max: weightMax });
  const waiting = { min: 1, max: waitingMax, whole: true } as const;
  const priority = { min: -1_000, max: 1_000, whole: true } as const;
  const lifetime = fields.get("lifetime");
  const quotas = readQuotas(document, fields.get("quota"), pools);
  return {
    weight: weight ?? 1,
    ...quotas,
    ...readCohort(document, fields, quotas.quotas, pools),
    ...defined("pools", readPatterns(document, fields.get("pools"), pools)),
    ...defined("waitingMax", optionalNumber(document, fields.get("waiting"), waiting)),
    ...defined("priorityMax", optionalNumber(document, fields.get("priority"), priority)),
    ...defined(
      "lifetimeMs",
      lifetime && readDuration(document.source, lifetime.value, spaceLimits.lifetime),
    ),
  };
}

function readPatterns(
  document: ConfigDocument,
  field: Entry | undefined,
  pools: KnownPools,
): string[] | undefined {
  if (field === undefined) return undefined;
  const list = { ...patternsExpected, kind: poolPatternKind, max: spaceLimits.poolPatternsMax };
  const patterns = readTexts(document, field.value, list);
  for (const pattern of patterns ?? []) {
    if (pools.keys().some((pool) => matchesPattern(pattern, pool))) continue;
    const meant = nearest(pattern, pools.keys());
    const hint = meant === undefined ? "name a pool of the file" : `did you mean ${meant}?`;
    document.source.warn(field.value, `no pool matches ${quote(pattern)}`, hint);
  }
  return patterns;
}
