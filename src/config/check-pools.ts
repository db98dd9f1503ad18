/** What can only be checked with several fields, or several pools, at hand. */

import { entryOf } from "../core/model/entries.ts";
import {
  type Field,
  hasFields,
  isRequired,
  isValues,
  type Table,
  type Values,
} from "../core/model/fields.ts";
import { freeState, ownStates, quarantinedState } from "../core/model/lifecycle.ts";
import { nearest } from "../core/model/nearest.ts";
import type { PartKind, PoolPolicy, PoolSpec, Silence } from "../core/model/policy.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import { formatDuration } from "../core/model/time.ts";
import { type Place, quote, type Source } from "./document.ts";
import type { GoodConfig } from "./parse.ts";
import type { MemberDraft, PoolDraft } from "./read-pool.ts";
import type { Entry } from "./read-values.ts";

/** What can only be seen of a pool as a whole: whether its members are lent as the pool says. */

export function checkCapacities(
  source: Source,
  pool: Pick<PoolDraft, "policy" | "members">,
  count: Entry | undefined,
): void {
  const { placement } = pool.policy;
  if (placement !== undefined && count !== undefined) {
    const state = "resources that are lent by amount have a capacity each";
    source.refuse(count.at, state, "write members: with a capacity for each");
  }
  for (const member of pool.members) {
    if (placement === undefined && member.room !== undefined) {
      const state = "it has a capacity, and the pool is lent whole";
      source.refuse(member.at, state, "add place: least-used to the pool");
    }
    if (placement !== undefined && member.room === undefined) {
      source.refuse(member.at, "it has no capacity", "write capacity: { vcpus: 120 }");
    }
    if (placement !== undefined) checkParts(source, member, placement.parts ?? {});
  }
}

function checkParts(
  source: Source,
  { room, at }: MemberDraft,
  kinds: Readonly<Record<string, PartKind>>,
): void {
  for (const [kind, names] of Object.entries(room?.parts ?? {})) {
    if (room !== undefined && Object.hasOwn(room.capacity, kind)) {
      source.refuse(at, `${kind} is both a dimension and a kind of parts`, "rename one of them");
    }
    const known = entryOf(kinds, kind)?.members;
    const stray = known === undefined ? [] : names.filter((name) => !Object.hasOwn(known, name));
    if (stray.length === 0) continue;
    const state = `${stray.slice(0, 5).join(", ")} not under the pool's parts, so without attributes`;
    source.warn(at, state, `add it to parts.${kind}.members, or remove it here`);
  }
}

type Pool = Pick<PoolDraft, "name" | "parentAt" | "policy">;

/** Refuses unknown parents that are written here, and pools that are their own ancestor. */
export function refuseParents(
  source: Source,
  pools: readonly Pool[],
  all: readonly Pick<Pool, "name" | "policy">[] = pools,
): void {
  const byName = new Map(all.map((pool) => [pool.name, pool]));
  for (const { parentAt: place, policy, name } of pools) {
    if (place === undefined || policy.parent === undefined) continue;
    if (!byName.has(policy.parent)) {
      const meant = nearest(policy.parent, [...byName.keys()]);
      const hint = meant === undefined ? "add that pool, or remove the key" : `write ${meant}`;
      source.refuse(place, `there is no pool ${quote(policy.parent)}`, hint);
    } else if (circleOf(name, byName) !== undefined) {
      const circle = circleOf(name, byName) ?? [];
      const state = `the pool is its own ancestor: ${circle.join(" below ")}`;
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

/** Rules between the fields of a policy: what is refused although each value by itself is fine. */

interface Written {
  readonly policy: PoolPolicy;
  /** Those of them that were written. */
  readonly values: Values;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Takes the place of what is not written. */
  readonly before: Values;
}

export function checkPolicy(source: Source, pool: Place, written: Written): void {
  const rules = [
    checkMissing,
    checkPlacement,
    checkPace,
    checkPreempt,
    checkAdaptive,
    checkDynamic,
    checkStates,
  ];
  for (const rule of rules) rule(new Complaints(source, pool, written.entries), written);
}

/** What a rule refuses may not be written itself: then the pool is where to look. */
class Complaints {
  readonly #source: Source;
  readonly #pool: Place;
  readonly #entries: ReadonlyMap<string, Entry>;

  constructor(source: Source, pool: Place, entries: ReadonlyMap<string, Entry>) {
    this.#source = source;
    this.#pool = pool;
    this.#entries = entries;
  }

  refuseKey(key: string, state: string, hint: string): void {
    this.#source.refuse(this.#entries.get(key)?.at ?? this.#unwritten(key), state, hint);
  }

  refuseValue(key: string, state: string, hint: string): void {
    this.#source.refuse(this.#entries.get(key)?.value ?? this.#unwritten(key), state, hint);
  }

  #unwritten(key: string): Place {
    return { ...this.#pool, path: [...this.#pool.path, ...key.split("/")] };
  }
}

/** Which fields are required stands in the table. */
function checkMissing(complaints: Complaints, { values, entries, before }: Written): void {
  const finder = new MissingFieldFinder((path) => entries.has(path.join("/")));
  for (const { path, fields, isInline } of finder.findIn(policyFields, values, before)) {
    const keys = fields.map(({ key }) => key).join(" and ");
    const add = `add ${fields.map(exampleOf).join(", ")}`;
    const at = path.join("/");
    if (isInline) complaints.refuseKey(at, `it needs ${keys} as well`, `${add}, or remove it`);
    else complaints.refuseKey(at, `${keys} ${fields.length > 1 ? "are" : "is"} missing`, add);
  }
}

/** As it would stand in the file, such as `every: 24s`. */
function exampleOf({ key, examples: [example] = [] }: Field): string {
  return `${key}: ${typeof example === "string" ? example : JSON.stringify(example)}`;
}

const wholeOnly = ["cooldown", "lockDelay", "onRelease", "onExpire", "states"];

function checkPlacement(complaints: Complaints, { policy, entries }: Written): void {
  if (policy.placement === undefined) return;
  for (const key of wholeOnly.filter((known) => entries.has(known))) {
    const state = "a shared resource has no cooldown and no state of its own";
    complaints.refuseKey(key, state, "remove it");
  }
}

function checkPace(complaints: Complaints, { policy, entries }: Written): void {
  if (policy.pace?.everyMs !== "auto") return;
  if (policy.holdMs === null && !entries.has("hold")) {
    const state = "auto works the pace out from the hold, and there is none";
    complaints.refuseKey("pace/every", state, "write a hold as well, or a duration such as 24s");
  }
  if (policy.placement !== undefined) {
    const state = "auto works the pace out from how many can be held, which no amount tells";
    complaints.refuseKey("pace/every", state, "write a duration such as 24s");
  }
}

function checkPreempt(complaints: Complaints, { policy }: Written): void {
  const { preempt, placement, cluster } = policy;
  if (preempt === true && placement !== undefined) {
    const state =
      "in a pool that is lent by amount a smaller request may take what an ended lease leaves, " +
      "so leases would end for nothing";
    complaints.refuseKey("preempt", state, "remove it, and give each space a quota instead");
  }
  if (preempt === true && cluster !== undefined) {
    const state = "a used cluster is destroyed, so nobody gains by taking it back";
    complaints.refuseKey("preempt", state, "remove it");
  }
}

function checkAdaptive(complaints: Complaints, { policy: { adaptive } }: Written): void {
  if (adaptive === undefined || adaptive.min <= adaptive.max) return;
  const state = `its min of ${adaptive.min} is more than its max of ${adaptive.max}`;
  complaints.refuseKey("adaptive", state, "write a min that is not above the max");
}

function checkDynamic(complaints: Complaints, { policy: { dynamic } }: Written): void {
  if (dynamic === undefined || dynamic.min <= dynamic.max) return;
  const state = `${dynamic.min} is more than max, which is ${dynamic.max}`;
  complaints.refuseValue("dynamic/min", state, "swap them");
}

/** The states that the policy itself sets must be allowed ones. */
function checkStates(complaints: Complaints, { policy }: Written): void {
  const { states, onRelease, onExpire, dynamic, silence = {} } = policy;
  if (states === undefined) return;
  const isAllowed = (state: string) => states.includes(state) || ownStates.includes(state);
  const set: [key: string, state: string | undefined][] = [
    ["onRelease", onRelease],
    ["onExpire", onExpire],
    ["dynamic/state", dynamic?.state],
    ...Object.entries(silence).map(([held, { to }]): [string, string] => [
      `silence/${held}/to`,
      to,
    ]),
  ];
  const wrong = set.find(([, state]) => state !== undefined && !isAllowed(state));
  if (wrong === undefined) return;
  const state = `it lacks ${wrong[1]}, the state of ${wrong[0].replaceAll("/", ".")}`;
  complaints.refuseKey("states", state, `add ${wrong[1]}`);
}

/** Required fields that a file leaves out. A group without one of them would not be in force. */

/** What is missing in one place of the file. */
export interface MissingFields {
  /** The keys that lead there: a group, or a key that needs these fields at its side. */
  readonly path: readonly string[];
  readonly fields: readonly Field[];
  /** The fields are missing next to the key, not below it: the key can be removed instead. */
  readonly isInline: boolean;
}

/** What was written or was there before, level by level. */
interface Level {
  readonly path: readonly string[];
  readonly written: unknown;
  readonly before: unknown;
}

/** `hasKey` also knows keys whose value cannot be used: these are refused already. */
export class MissingFieldFinder {
  readonly #hasKey: (path: readonly string[]) => boolean;

  constructor(hasKey: (path: readonly string[]) => boolean) {
    this.#hasKey = hasKey;
  }

  /** In all groups of a table that are written. */
  findIn(table: Table, written: Values, before: Values): MissingFields[] {
    return this.#inGroups(table, { path: [], written, before });
  }

  #inGroups(table: Table, level: Level): MissingFields[] {
    return Object.entries(table).flatMap(([name, field]) => {
      const [written, before] = [valueIn(level.written, name), valueIn(level.before, name)];
      const path = [...level.path, field.key];
      return this.#inField(field, { path, written, before });
    });
  }

  #inField({ kind }: Field, level: Level): MissingFields[] {
    if (!hasFields(kind)) return [];
    switch (kind.type) {
      case "group":
        return isValues(level.written) ? this.#inGroup(kind.fields, level) : [];
      case "by-state": {
        const states = Object.entries(isValues(level.written) ? level.written : {});
        return states.flatMap(([state, written]) => {
          const path = [...level.path, state];
          return this.#inGroup(kind.fields, {
            path,
            written,
            before: valueIn(level.before, state),
          });
        });
      }
      case "inline":
        return this.#inInline(kind.fields, { ...level, path: level.path.slice(0, -1) });
    }
  }

  #inGroup(table: Table, level: Level): MissingFields[] {
    const fields = this.#missing(table, level);
    const here = fields.length === 0 ? [] : [{ path: level.path, fields, isInline: false }];
    return [...here, ...this.#inGroups(table, level)];
  }

  /** Each key of such a group that is written needs the required ones at its side. */
  #inInline(table: Table, level: Level): MissingFields[] {
    const fields = this.#missing(table, level);
    const paths = Object.values(table).map(({ key }) => [...level.path, key]);
    const written = fields.length === 0 ? [] : paths.filter(this.#hasKey);
    const here = written.map((path) => ({ path, fields, isInline: true }));
    return [...here, ...this.#inGroups(table, level)];
  }

  #missing(table: Table, { path, written, before }: Level): Field[] {
    return Object.entries(table).flatMap(([name, field]) => {
      if (!isRequired(field) || this.#hasKey([...path, field.key])) return [];
      const value = valueIn(written, name) ?? valueIn(before, name);
      return value === undefined ? [field] : [];
    });
  }
}

function valueIn(values: unknown, name: string): unknown {
  return isValues(values) ? values[name] : undefined;
}

/** What a Boskos file cannot say: when what silent holders have is taken back. */
export interface BoskosExpiry extends Silence {
  /** Beside those that Boskos's own reaper looks at. */
  readonly moreStates: readonly string[];
}

/** In these a resource is in somebody's hands, as Boskos's clients use them. */
export const reapedStates: readonly string[] = ["busy", "cleaning", "leased"];

/** Lets silent holders of a Boskos file's pools expire; a file of Berth's own says it itself. */
export function withExpiry(config: GoodConfig, expiry: BoskosExpiry | undefined): GoodConfig {
  if (config.format !== "boskos" || expiry === undefined) return config;
  const { afterMs, to, moreStates } = expiry;
  const states = [...reapedStates, ...moreStates];
  const silence = Object.fromEntries(states.map((state) => [state, { afterMs, to }]));
  return { ...config, pools: config.pools.map((pool) => withSilence(pool, silence)) };
}

function withSilence(pool: PoolSpec, silence: Readonly<Record<string, Silence>>): PoolSpec {
  return { ...pool, policy: { ...pool.policy, silence } };
}

/** Policies that are valid and yet cannot be what their writer wants. */
export function warnOfPolicy(
  source: Source,
  fields: ReadonlyMap<string, Entry>,
  policy: PoolPolicy,
): void {
  const { ttlMs, holdMs, lifetimeMs } = policy;
  const [ttl, hold] = [fields.get("ttl"), fields.get("hold")];
  if (lifetimeMs !== null && ttl !== undefined && ttlMs > lifetimeMs) {
    const state = `a job that falls silent is not noticed within the lifetime of`;
    source.warn(ttl.value, `${state} ${formatDuration(lifetimeMs)}`, "write a shorter ttl");
  }
  if (lifetimeMs !== null && hold !== undefined && holdMs !== null && holdMs > lifetimeMs) {
    const state = `it never ends before the lifetime of ${formatDuration(lifetimeMs)} does`;
    source.warn(hold.value, state, "write a shorter hold, or none");
  }
  const limit = fields.get("limit");
  if (limit !== undefined && policy.limit === 0) {
    const state = "nothing of this pool, or of a pool below it, is ever lent";
    source.warn(limit.value, state, "write 1 or more, or remove the pool");
  }
  const notice = fields.get("notice");
  if (notice !== undefined && policy.preempt !== true)
    source.warn(notice.at, "it has no effect without preempt", "add preempt: true, or remove it");
  for (const key of ["onRelease", "onExpire"] as const) {
    const field = fields.get(key);
    if (field !== undefined) warnOfState(source, field, policy[key]);
  }
}

/** What people mean; any other state is theirs to invent, but hardly one letter away from these. */
const usualStates = [
  freeState,
  quarantinedState,
  "dirty",
  "cleaning",
  "drained",
  "tombstone",
  "toBeDeleted",
];

function warnOfState(source: Source, { value }: Entry, state: string): void {
  if (usualStates.includes(state)) return;
  const meant = nearest(state, usualStates);
  if (meant === undefined) return;
  const why = `what is ${quote(state)} is not lent until somebody frees it`;
  source.warn(value, why, `did you mean ${meant}?`);
}
