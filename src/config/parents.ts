import { nearest } from "../core/model/nearest.ts";
import { quote } from "./problem.ts";
import type { PoolDraft } from "./read-pool.ts";
import type { Source } from "./source.ts";

type Pool = Pick<PoolDraft, "name" | "at" | "policy">;

/** Refuses parents that there are not, and pools that draw on themselves over any number of steps. */
export function refuseParents(
  source: Source,
  pools: readonly Pool[],
  all: readonly Pick<Pool, "name" | "policy">[] = pools,
): void {
  const byName = new Map(all.map((pool) => [pool.name, pool]));
  for (const { at, policy, name } of pools) {
    if (policy.parent === undefined) continue;
    const place = { ...at, path: [...at.path, "parent"] };
    if (!byName.has(policy.parent)) {
      const meant = nearest(policy.parent, [...byName.keys()]);
      const hint = meant === undefined ? "add that pool, or remove the key" : `write ${meant}`;
      source.refuse(place, `there is no pool ${quote(policy.parent)}`, hint);
    } else if (circleOf(name, byName) !== undefined) {
      const circle = circleOf(name, byName) ?? [];
      const state = `it draws on itself: ${circle.join(" on ")}`;
      source.refuse(place, state, "remove one of these parents");
    } else {
      const parent = byName.get(policy.parent)?.policy;
      if (parent?.placement === undefined || parent.limit !== undefined) continue;
      const state = `${policy.parent} is lent by amount, so its size says nothing of how many it bears`;
      source.refuse(place, state, `add limit: N to ${policy.parent}`);
    }
  }
}

/** The way from a pool back to itself, if its parents lead there. */
function circleOf(
  name: string,
  pools: ReadonlyMap<string, Pick<Pool, "policy">>,
): readonly string[] | undefined {
  const way = [name];
  for (let up = pools.get(name)?.policy.parent; up !== undefined; ) {
    way.push(up);
    if (up === name) return way;
    if (way.length > pools.size + 1) return undefined;
    up = pools.get(up)?.policy.parent;
  }
  return undefined;
}
