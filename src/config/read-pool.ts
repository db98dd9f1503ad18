/** How one pool is read: its policy and its members. */

import { isMap, isNode, isScalar, isSeq, type YAMLSeq } from "yaml";
import { complete, isValues, type Values } from "../core/model/fields.ts";
import { dirtyState } from "../core/model/lifecycle.ts";
import { defaultPolicy, type PoolPolicy } from "../core/model/policy.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import { checkCapacities, checkPolicy, warnOfPolicy } from "./check-pools.ts";
import {
  type ConfigDocument,
  formatNumber,
  type Place,
  readText,
  readWhole,
  type Spot,
} from "./document.ts";
import { labelsPerResourceMax, nameLengthMax, resourcesMax } from "./limits.ts";
import { type AdmissionDraft, readAdmission } from "./read-admission.ts";
import { type RoomDraft, readRoom } from "./read-capacity.ts";
import { type KnownTemplates, readClusterPolicy } from "./read-cluster-pool.ts";
import { type MoreKeys, readFields, type WrittenFields } from "./read-fields.ts";
import { type JanitorSpec, readJanitor } from "./read-janitor.ts";
import { readUserData, type UserData } from "./read-user-data.ts";
import {
  checkKeys,
  type Entry,
  knownFields,
  readKnown,
  readMap,
  readNamed,
} from "./read-values.ts";
import { Member, Pool } from "./schema.ts";
import { Janitor } from "./schema-janitor.ts";
import { labelKeyKind, labelValueKind, nameKind } from "./text-kinds.ts";

/** A pool as far as it could be read, with its places, so that pools can be compared. */
export interface PoolDraft {
  readonly name: string;
  readonly at: Place;
  readonly policy: PoolPolicy;
  readonly parentAt: Place | undefined;
  /** How many resources to make and to name after the pool. */
  readonly count: number;
  readonly members: readonly MemberDraft[];
  /** Also if the template cannot be used: then its own problem is the one to tell. */
  readonly hasTemplate: boolean;
  readonly janitor: Omit<JanitorSpec, "pool"> | undefined;
  readonly admission: AdmissionDraft | undefined;
}

const expected = { title: "pool", hint: "write { count: 1 }, or members: and their names" };
const keys = Object.keys(Pool.properties);
const moreKeys = { janitor: Object.keys(Janitor.properties) };

/** Undefined, with the reason in the source, if this is no pool at all. */
export function readPool(
  document: ConfigDocument,
  { key: name, at, value }: Entry,
  room: Room,
  templates: KnownTemplates,
): PoolDraft | undefined {
  const fields = readKnown(document, value, keys, expected);
  if (fields === undefined) return undefined;
  const read = readPolicy(document, { at, fields, moreKeys });
  const janitor = readJanitor(document, read);
  const admission = readAdmission(document, fields.get("admission"));
  const clusters = readClusterPolicy(document, fields, templates, read.policy.lifetimeMs);
  const policy = {
    ...read.policy,
    ...(admission && { admission: admission.policy }),
    ...clusters,
  };
  const [max, dynamic] = [read.entries.get("dynamic/max"), policy.dynamic];
  if (max !== undefined && dynamic !== undefined) take(document, max.value, dynamic.max, room);
  warnOfPolicy(document.source, fields, policy);
  const [count, members] = [fields.get("count"), fields.get("members")];
  if (count !== undefined && members !== undefined) {
    document.source.refuse(at, "it has both count and members", "keep one of them");
  }
  if (
    count === undefined &&
    members === undefined &&
    !["dynamic", "limit", "template"].some((key) => fields.has(key))
  ) {
    const hint = "add count: 1, or members: and their names";
    document.source.refuse(at, "it has neither count nor members", hint);
  }
  const draft = {
    name,
    at,
    policy,
    parentAt: fields.get("parent")?.value,
    count: count === undefined ? 0 : readCount(document, count.value, name, room),
    members: members === undefined ? [] : readMembers(document, members.value, room),
    hasTemplate: fields.has("template"),
    janitor,
    admission,
  };
  checkCapacities(document.source, draft, count);
  const size = fields.has("dynamic") ? undefined : (count ?? members);
  if (size !== undefined && draft.count + draft.members.length === 0) {
    const state = "the pool has no resources, so every request for one is refused";
    document.source.warn(size.at, state, "give it some, or remove the pool");
  }
  return draft;
}

export interface ReadPolicy extends WrittenFields {
  readonly policy: PoolPolicy;
}

interface PoolFields {
  /** Where the pool stands. */
  readonly at: Place;
  readonly fields: ReadonlyMap<string, Entry>;
  /** The policy that some values of are changed; without it the rest is as by default. */
  readonly before?: PoolPolicy;
  readonly moreKeys?: MoreKeys;
}

/** Only of use if the source has no problems. */
export function readPolicy(document: ConfigDocument, pool: PoolFields): ReadPolicy {
  const { at, fields, before, moreKeys } = pool;
  const { values, entries } = readFields(document, fields, policyFields, moreKeys);
  const base = before === undefined ? baseFor(values) : { ...before };
  const written = { ...values, ...silences(values, base), ...placement(values, entries) };
  const policy = complete<PoolPolicy>(policyFields, written, base);
  const read = { values, entries, policy: policy ?? defaultPolicy };
  checkPolicy(document.source, at, { ...read, before: base });
  return read;
}

/** Defaults that depend on what is written. */
function baseFor({ holdMs, onRelease, cleaning }: Values): Values {
  const released = onRelease ?? defaultPolicy.onRelease;
  return {
    // A holder of what is released by the server needs no heartbeat until then.
    ...(typeof holdMs === "number" && { ttlMs: Math.max(defaultPolicy.ttlMs, holdMs) }),
    // Nothing may stay out of use until somebody notices, so expiry is a special case only where a
    // janitor will look after it.
    onExpire: cleaning === undefined ? released : dirtyState,
  };
}

/** Where a silent holder's resource goes is what the pool does with all that expires. */
function silences({ silence, onExpire }: Values, base: Values): Values {
  if (!isValues(silence)) return {};
  const before = isValues(base["silence"]) ? base["silence"] : {};
  const to = onExpire ?? base["onExpire"];
  const rules = Object.entries(silence).map(([state, rule]) => {
    const isNew = before[state] === undefined && isValues(rule);
    return [state, isNew ? { to, ...rule } : rule];
  });
  return { silence: Object.fromEntries(rules) };
}

/** A strategy that cannot be used is refused; the pool is one that is lent by amount nevertheless. */
function placement({ placement: written }: Values, entries: WrittenFields["entries"]): Values {
  if (!entries.has("place")) return {};
  const [strategy] = policyFields.placement.kind.fields.strategy.kind.choices;
  return { placement: { strategy, ...(isValues(written) ? written : {}) } };
}

export interface MemberDraft {
  readonly name: string;
  readonly at: Place;
  readonly labels: Readonly<Record<string, string>>;
  readonly userData?: UserData;
  readonly room?: RoomDraft;
}

/** Shared, because most of a million resources have none. */
export const noLabels: Readonly<Record<string, string>> = Object.freeze({});

/** How many resources there may still be, and whether it was told that there are no more. */
export interface Room {
  readonly max: number;
  /** Who has them, for messages. */
  readonly owner: string;
  left: number;
  told: boolean;
}

export function roomFor(owner: string, max = resourcesMax): Room {
  return { max, owner, left: max, told: false };
}

/** Judged as a number, long before anything is made of it; 0 if it cannot be used. */
export function readCount(document: ConfigDocument, spot: Spot, pool: string, room: Room): number {
  const { source } = document;
  const value = readWhole(source, spot, { min: 0, max: resourcesMax });
  if (value === undefined) return 0;
  if (value > 0 && `${pool}-${value}`.length > nameLengthMax) {
    const state = `the last name it makes is longer than ${nameLengthMax} characters`;
    source.refuse(spot, state, "shorten the name of the pool");
    return 0;
  }
  return take(document, spot, value, room) ? value : 0;
}

/** False, with the reason in the source, if there would be too many. */
export function take({ source }: ConfigDocument, spot: Spot, count: number, room: Room): boolean {
  if (count <= room.left) {
    room.left -= count;
    return true;
  }
  const total = formatNumber(room.max - room.left + count);
  const state = `with it ${room.owner} ${total} resources, and the limit is`;
  if (!room.told) {
    const hint = `write at most ${formatNumber(room.left)}`;
    source.refuse(spot, `${state} ${formatNumber(room.max)}`, hint);
  }
  room.told = true;
  return false;
}

const membersExpected = { title: "list of names", hint: "write [aws-1, aws-2], or a map" };

/** A list of names, or a map from names to what is known about each. */
export function readMembers(
  document: ConfigDocument,
  spot: Spot,
  room: Room,
): readonly MemberDraft[] {
  const { node } = spot;
  if (isSeq(node) || isMap(node)) {
    if (!take(document, spot, node.items.length, room)) return [];
  }
  if (isSeq(node)) return readList(document, spot, node);
  const entries = readMap(document, spot, membersExpected) ?? [];
  checkKeys(document, entries, nameKind);
  return entries.map(({ key, at, value }) => ({
    name: key,
    at,
    ...readMember(document, value),
  }));
}

function readList(document: ConfigDocument, spot: Spot, list: YAMLSeq): MemberDraft[] {
  if (!document.mayRead(list, spot)) return [];
  const members: MemberDraft[] = [];
  for (const [index, item] of list.items.entries()) {
    const at = document.spot([...spot.path, index], isNode(item) ? item : null, spot.offset);
    const name = readText(document.source, at, nameKind);
    if (name !== undefined) members.push({ name, at, labels: noLabels });
  }
  return members;
}

const memberExpected = { title: "resource", hint: "write { labels: { region: us-east-1 } }" };
const labelEntries = {
  title: "map of labels",
  hint: "write { region: us-east-1 }",
  names: labelKeyKind,
  max: labelsPerResourceMax,
  of: "labels",
};
const memberKeys = Object.keys(Member.properties);

/** A name with nothing after it has no labels. */
function readMember(document: ConfigDocument, spot: Spot): Omit<MemberDraft, "name" | "at"> {
  if (isScalar(spot.node) && spot.node.value === null) return { labels: noLabels };
  const entries = readMap(document, spot, memberExpected) ?? [];
  const fields = knownFields(document, entries, memberKeys);
  const [labels, userData] = [fields.get("labels"), fields.get("userData")];
  const seed = userData === undefined ? undefined : readUserData(document, userData.value);
  const room = readRoom(document, fields);
  return {
    labels: labels === undefined ? noLabels : readLabels(document, labels),
    ...(seed === undefined ? undefined : { userData: seed }),
    ...(room === undefined ? undefined : { room }),
  };
}

function readLabels(document: ConfigDocument, field: Entry): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { key, value } of readNamed(document, field, labelEntries)) {
    const text = readText(document.source, value, labelValueKind);
    if (text !== undefined) labels[key] = text;
  }
  return labels;
}
