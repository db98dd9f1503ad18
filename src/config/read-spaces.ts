import { isMap } from "yaml";
import type { PoolName, SpaceName } from "../core/model/ids.ts";
import { nearest } from "../core/model/nearest.ts";
import {
  anySpace,
  defaultSpacePolicy,
  matchesPattern,
  type Quota,
  type SpacePolicy,
  type SpacesSpec,
} from "../core/model/space.ts";
import { type ConfigDocument, quote, type Spot } from "./document.ts";
import type { KnownPool, KnownPools } from "./known-pools.ts";
import { spaceLimits } from "./limits.ts";
import {
  type Entry,
  optionalNumber,
  readDuration,
  readKnown,
  readMap,
  readNamed,
  readTexts,
} from "./read-values.ts";
import { Space } from "./schema-spaces.ts";
import { nameKind, poolPatternKind } from "./text-kinds.ts";

const expected = { title: "map of spaces", hint: "write { payments: { weight: 2 } }" };
const spaceExpected = { title: "space", hint: "write { weight: 2, quota: { aws-account: 2 } }" };
const quotaExpected = { title: "map of quotas", hint: "write { aws-account: 2, cost: 50 }" };
const amountsExpected = { title: "map of amounts", hint: "write { vcpus: 96 }" };
const patternsExpected = { title: "list of pools", hint: "write [aws-*, gcp]" };
const keys = Object.keys(Space.properties);
const costKey = "cost";

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
  return {
    weight: weight ?? 1,
    ...readQuotas(document, fields.get("quota"), pools),
    ...defined("pools", readPatterns(document, fields.get("pools"), pools)),
    ...defined("waitingMax", optionalNumber(document, fields.get("waiting"), waiting)),
    ...defined("priorityMax", optionalNumber(document, fields.get("priority"), priority)),
    ...defined(
      "lifetimeMs",
      lifetime && readDuration(document.source, lifetime.value, spaceLimits.lifetime),
    ),
  };
}

function defined<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [Name in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [Name in Key]?: Value };
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

function readQuotas(
  document: ConfigDocument,
  field: Entry | undefined,
  pools: KnownPools,
): Pick<SpacePolicy, "quotas" | "costMax"> {
  if (field === undefined) return { quotas: [] };
  const quotas: Quota[] = [];
  let costMax: number | undefined;
  for (const entry of readMap(document, field.value, quotaExpected) ?? []) {
    if (entry.key === costKey && !pools.has(costKey)) costMax = readAmount(document, entry);
    else quotas.push(...readQuota(document, entry, pools));
  }
  return { quotas, ...defined("costMax", costMax) };
}

function readAmount(document: ConfigDocument, entry: Entry): number | undefined {
  return optionalNumber(document, entry, { min: 0, max: spaceLimits.quotaMax, whole: true });
}

function readQuota(document: ConfigDocument, entry: Entry, pools: KnownPools): Quota[] {
  const pool = entry.key as PoolName;
  const known = pools.get(pool);
  if (known === undefined) {
    const meant = nearest(pool, pools.keys());
    const hint =
      meant === undefined ? "name a pool of the file, or cost" : `did you mean ${meant}?`;
    document.source.refuse(entry.at, `there is no pool ${quote(pool)}`, hint);
    return [];
  }
  if (!isMap(entry.value.node)) {
    const max = readAmount(document, entry);
    warnOfLargeQuota(document, entry, max, known.size);
    return max === undefined ? [] : [{ pool, max }];
  }
  return readAmountQuotas(document, entry, known);
}

function readAmountQuotas(document: ConfigDocument, entry: Entry, known: KnownPool): Quota[] {
  const pool = entry.key as PoolName;
  const dimensions = [...known.capacities.keys()];
  if (dimensions.length === 0) {
    const state = "the pool is exclusive, so its resources have no amounts";
    document.source.refuse(entry.value, state, `write how many resources: ${pool}: 2`);
    return [];
  }
  const amounts = readKnown(document, entry.value, dimensions, amountsExpected) ?? new Map();
  return [...amounts.values()].flatMap((amount) => {
    const max = readAmount(document, amount);
    warnOfLargeQuota(document, amount, max, known.capacities.get(amount.key));
    return max === undefined ? [] : [{ pool, dimension: amount.key, max }];
  });
}

function warnOfLargeQuota(
  { source }: ConfigDocument,
  { value }: Entry,
  max: number | undefined,
  size: number | undefined,
): void {
  if (max === undefined || size === undefined || max <= size) return;
  source.warn(value, `the pool has only ${size}, so this quota has no effect`, "write a lower one");
}
