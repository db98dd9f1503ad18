import { formatPath, type Path } from "./problem.ts";
import type { PoolDraft } from "./read-pool.ts";
import type { Place, Source } from "./source.ts";

type Pool = Pick<PoolDraft, "name" | "at" | "count" | "members">;

/**
 * Refuses names that two resources would share.
 *
 * Two counts never clash: what stands before the last dash is the pool, and pools have different
 * names. So only written names are kept and compared, and a count of a million costs nothing.
 */
export function refuseClashes(source: Source, pools: readonly Pool[]): void {
  const counting = new Map<string, Pool>();
  for (const pool of pools) if (pool.count > 0) counting.set(pool.name, pool);
  const written = new Map<string, Place>();
  for (const { name, at } of pools.flatMap(({ members }) => members)) {
    const other = written.get(name) ?? makerOf(name, counting);
    written.set(name, other ?? at);
    if (other === undefined) continue;
    const line = source.lineOf(other);
    const state = `line ${line} already has ${name}, from ${formatPath(other.path)}`;
    source.refuse(at, state, "rename one: a name is used once in the whole file");
  }
}

const numbered = /^(.+)-([1-9]\d*)$/;

/** The count that makes a resource of this name. */
function makerOf(name: string, counting: ReadonlyMap<string, Pool>): Place | undefined {
  const [, poolName = "", number = ""] = numbered.exec(name) ?? [];
  const pool = counting.get(poolName);
  if (pool === undefined || Number(number) > pool.count) return undefined;
  const path: Path = [...pool.at.path, "count"];
  return { path, offset: pool.at.offset };
}
