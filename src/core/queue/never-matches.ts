/**
 * Refuses selections that no resource of the pool can ever match. Resources that are held, drained
 * or quarantined count, because they may be lent again.
 */
import type { PoolName } from "../model/ids.ts";
import { nearestMatch } from "../model/nearest-match.ts";
import type { Refusal } from "../model/outcome.ts";
import { aheadOfAll } from "../model/rank.ts";
import { type Candidate, isMatch, type Selection } from "../model/selection.ts";
import type { ExclusiveNeed, State } from "../model/state.ts";
import { assign } from "./assign.ts";
import { isPresent } from "./available.ts";

export function neverMatches(state: State, need: ExclusiveNeed): Refusal | undefined {
  const { pool, selections } = need;
  // The usual case: the request fits now.
  // Clusters with the parameters that it wants are made.
  if (pool.policy.cluster !== undefined) return undefined;
  if (selections === null || isPresent(need, aheadOfAll)) return undefined;
  const candidates = candidatesFor(state, pool.name);
  const isDynamic = pool.policy.dynamic !== undefined;
  for (const selection of selections) {
    // A new resource of a dynamic pool may get its labels from its cleaner.
    if (isDynamic && selection.resource === undefined) return undefined;
    const refusal = tooFewMatch(pool.name, candidates, selection);
    if (refusal !== undefined) return refusal;
  }
  const matching = (selection: Selection) => candidates.filter((one) => isMatch(one, selection));
  if (assign(selections, matching) !== undefined) return undefined;
  return { code: "never_fits_together", pool: pool.name, items: selections.length };
}

/** The resources that are in the pool, or that will move to it. */
function candidatesFor(state: State, pool: PoolName): Candidate[] {
  const candidates: Candidate[] = [];
  for (const { name, labels, pool: from, retired, movesTo } of state.resources.values()) {
    if (movesTo?.pool === pool) candidates.push({ name, labels: movesTo.labels ?? {} });
    else if (from.name === pool && !retired) candidates.push({ name, labels });
  }
  return candidates;
}

function tooFewMatch(
  pool: PoolName,
  candidates: readonly Candidate[],
  selection: Selection,
): Refusal | undefined {
  const { count: asked, resource } = selection;
  const eligible = candidates.filter((candidate) => isMatch(candidate, selection)).length;
  if (eligible >= asked) return undefined;
  const total = candidates.length;
  const named = candidates.filter(({ name }) => resource === undefined || name === resource);
  const unfit = {
    ...(named.length === total ? undefined : { not_the_one: total - named.length }),
    ...(named.length === eligible ? undefined : { label: named.length - eligible }),
  };
  const meant = nearestMatch(candidates, selection);
  return {
    code: "too_few_eligible",
    ...{ pool, asked, possible: eligible, large: eligible, eligible, total, unfit },
    ...(meant === undefined ? undefined : { nearest: meant }),
  };
}
