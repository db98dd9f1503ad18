/** How much a space may hold at one time. */
import { isMap } from "yaml";
import type { PoolName } from "../core/model/ids.ts";
import { nearest } from "../core/model/nearest.ts";
import type { Quota, SpacePolicy } from "../core/model/space.ts";
import { type ConfigDocument, quote } from "./document.ts";
import type { KnownPool, KnownPools } from "./known-pools.ts";
import { spaceLimits } from "./limits.ts";
import { type Entry, optionalNumber, readKnown, readMap } from "./read-values.ts";

const quotaExpected = { title: "map of quotas", hint: "write { aws-account: 2, cost: 50 }" };
export const amountsExpected = { title: "map of amounts", hint: "write { vcpus: 96 }" };
const costKey = "cost";

export function defined<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [Name in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [Name in Key]?: Value };
}

export function readQuotas(
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

export function readQuota(document: ConfigDocument, entry: Entry, pools: KnownPools): Quota[] {
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
