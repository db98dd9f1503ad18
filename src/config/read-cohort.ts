/** What the spaces of a cohort lend each other of their quotas. */
import { isMap } from "yaml";
import { quotaKey } from "../core/model/cohort.ts";
import type { Quota, SpacePolicy, SpacesSpec } from "../core/model/space.ts";
import { type ConfigDocument, quote, readText } from "./document.ts";
import type { KnownPools } from "./known-pools.ts";
import { amountsExpected, defined, readQuota } from "./read-quotas.ts";
import { type Entry, readMap } from "./read-values.ts";
import { nameKind } from "./text-kinds.ts";

/** The quotas with what may be borrowed and lent of each. */
export function readCohort(
  document: ConfigDocument,
  fields: ReadonlyMap<string, Entry>,
  quotas: readonly Quota[],
  pools: KnownPools,
): Partial<Pick<SpacePolicy, "quotas" | "cohort">> {
  const cohort = fields.get("cohort");
  const [borrow, lend] = [fields.get("borrow"), fields.get("lend")];
  if (cohort === undefined) {
    for (const field of [borrow, lend]) {
      if (field === undefined) continue;
      document.source.refuse(field.at, "the space has no cohort", "add cohort, or remove it");
    }
    return {};
  }
  const name = readText(document.source, cohort.value, nameKind);
  if (quotas.length === 0) {
    const hint = "add quota, such as { aws-account: 2 }";
    document.source.refuse(cohort.at, "the space has no quota to lend or borrow", hint);
  }
  const borrowed = readLoans(document, borrow, quotas, pools);
  const lent = readLoans(document, lend, quotas, pools);
  return {
    ...defined("cohort", name),
    quotas: quotas.map((quota) => ({
      ...quota,
      ...defined("borrow", borrowed.get(quotaKey(quota))),
      ...defined("lend", lent.get(quotaKey(quota))),
    })),
  };
}

/** Reads amounts for pools and dimensions that have a quota. */
function readLoans(
  document: ConfigDocument,
  field: Entry | undefined,
  quotas: readonly Quota[],
  pools: KnownPools,
): ReadonlyMap<string, number> {
  const loans = new Map<string, number>();
  if (field === undefined) return loans;
  for (const entry of readMap(document, field.value, amountsExpected) ?? []) {
    for (const loan of readQuota(document, entry, pools)) {
      if (quotas.some((quota) => quotaKey(quota) === quotaKey(loan))) {
        loans.set(quotaKey(loan), loan.max);
      } else {
        const unit = loan.dimension === undefined ? loan.pool : `${loan.dimension} of ${loan.pool}`;
        document.source.refuse(entry.at, `the space has no quota of ${unit}`, "add it to quota");
      }
    }
  }
  return loans;
}

/** Nobody knows how many spaces there will be, and so how much they could lend. */
export function refuseCohort({ source }: ConfigDocument, { value }: Entry): void {
  const cohort = isMap(value.node) ? value.node.has("cohort") : false;
  if (!cohort) return;
  source.refuse(value, "only spaces that are listed can have a cohort", "list them under spaces");
}

export function warnOfLoneCohorts(
  { source }: ConfigDocument,
  field: Entry | undefined,
  spaces: SpacesSpec["spaces"],
): void {
  for (const { name, policy } of spaces) {
    const { cohort } = policy;
    if (field === undefined || cohort === undefined) continue;
    const others = spaces.filter((other) => other.policy.cohort === cohort && other.name !== name);
    if (others.length > 0) continue;
    const state = `${quote(name)} is the only space of the cohort ${quote(cohort)}`;
    source.warn(field.at, state, "give other spaces the same cohort, or remove it");
  }
}
