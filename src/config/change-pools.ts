import type { PoolPolicy, PoolSpec } from "../core/model/policy.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import { checkCapacities, refuseParents } from "./check-pools.ts";
import {
  type ConfigDocument,
  type ConfigProblem,
  openDocument,
  type Place,
  Source,
} from "./document.ts";
import { membersByCount } from "./parse.ts";
import { keysOf } from "./read-fields.ts";
import { type Room, readCount, readPolicy } from "./read-pool.ts";
import { type Entry, knownFields, readMap, refuseClashes } from "./read-values.ts";

export type ChangedPools =
  | { readonly ok: true; readonly pools: readonly PoolSpec[] }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

interface Change {
  readonly at: Place;
  readonly policy: PoolPolicy;
  /** Undefined: its members stay. */
  readonly count: number | undefined;
  /** Undefined: its parent stays. */
  readonly parentAt: Place | undefined;
}

/**
 * Pools with other values for some of their keys. The values are read by the code that reads the
 * file, so what a file refuses is refused here in the same words; all that is not named stays as it
 * is. `changes` are by pool, each as it would stand in the file. `room` limits the resources that they
 * make together.
 */
export function changePools(
  pools: readonly PoolSpec[],
  changes: Readonly<Record<string, unknown>>,
  room: Room,
): ChangedPools {
  const source = new Source(JSON.stringify({ pools: changes }), "");
  const document = openDocument(source);
  const read =
    document === undefined ? new Map<string, Change>() : readChanges(document, pools, room);
  const changed = pools.map((pool) => changedPool(pool, read.get(pool.name)));
  checkTogether(source, changed, read);
  const problems = source.problems();
  return problems.length > 0 ? { ok: false, problems } : { ok: true, pools: changed };
}

const expected = { title: "map", hint: "write { count: 5 }" };

function readChanges(
  document: ConfigDocument,
  pools: readonly PoolSpec[],
  room: Room,
): ReadonlyMap<string, Change> {
  const byName = new Map<string, PoolSpec>(pools.map((pool) => [pool.name, pool]));
  const [root] = readMap(document, document.root(), expected) ?? [];
  const entries = root === undefined ? [] : (readMap(document, root.value, expected) ?? []);
  return new Map(
    entries.flatMap((entry): [string, Change][] => {
      const pool = byName.get(entry.key);
      return pool === undefined ? [] : [[pool.name, readChange(document, entry, pool, room)]];
    }),
  );
}

/** Keys of the file that cannot be changed here, and why. */
const unchangeable: Readonly<Record<string, readonly [state: string, hint: string]>> = {
  members: ["names make no difference", "set count"],
  admission: ["no cluster is looked at", "set another key"],
  parts: ["only a file can describe parts", "set another key"],
};
const keys = ["count", "members", ...keysOf(policyFields)];

function readChange(
  document: ConfigDocument,
  { at, value }: Entry,
  pool: PoolSpec,
  room: Room,
): Change {
  const fields = knownFields(document, readMap(document, value, expected) ?? [], keys);
  for (const [key, [state, hint]] of Object.entries(unchangeable)) {
    const field = fields.get(key);
    if (field !== undefined) document.source.refuse(field.at, state, hint);
  }
  const { policy } = readPolicy(document, { at, fields, before: pool.policy });
  const count = fields.get("count");
  // Whether members have a capacity is not known here, but those of a pool that is lent whole have none.
  const isNewlyByAmount = fields.has("place") && pool.policy.placement === undefined;
  const members = isNewlyByAmount ? pool.members.map((member) => ({ ...member, at })) : [];
  // More hosts have the capacities of those that the pool has.
  const counted = pool.members.some(({ room }) => room !== undefined) ? undefined : count;
  checkCapacities(document.source, { policy, members }, counted);
  return {
    at,
    policy,
    count: count && readCount(document, count.value, pool.name, room),
    parentAt: fields.get("parent")?.value,
  };
}

function changedPool(pool: PoolSpec, change: Change | undefined): PoolSpec {
  if (change === undefined) return pool;
  const { policy, count } = change;
  const members = count === undefined ? pool.members : membersOf(pool, count);
  return { ...pool, policy, members };
}

/** Resources that are lent by amount are repeated in turn, with their capacities and labels. */
function membersOf({ name, members }: PoolSpec, count: number): PoolSpec["members"] {
  const made = membersByCount(name, count);
  if (members.every(({ room }) => room === undefined)) return made;
  return made.map((member, index) => {
    const { labels = {}, room } = members[index % members.length] ?? member;
    const { name: own } = members[index] ?? member;
    return { name: own, labels, ...(room && { room: { ...room, index } }) };
  });
}

function checkTogether(
  source: Source,
  pools: readonly PoolSpec[],
  changes: ReadonlyMap<string, Change>,
): void {
  const changed = Array.from(changes, ([name, change]) => ({ name, ...change }));
  refuseParents(source, changed, pools);
  if (changed.every(({ count }) => count === undefined)) return;
  const drafts = pools.map(({ name, members }) => {
    const { at = { path: ["pools", name], offset: 0 }, count = 0 } = changes.get(name) ?? {};
    return { name, at, count, members: count > 0 ? [] : members.map((m) => ({ ...m, at })) };
  });
  refuseClashes(source, drafts);
}
