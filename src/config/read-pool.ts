import type { PoolPolicy } from "../core/model/policy.ts";
import { checkCapacities } from "./check-capacity.ts";
import type { ConfigDocument } from "./document.ts";
import { type AdmissionDraft, readAdmission } from "./read-admission.ts";
import { type JanitorSpec, readJanitor } from "./read-janitor.ts";
import { type Entry, readKnown } from "./read-map.ts";
import { type MemberDraft, type Room, readCount, readMembers, take } from "./read-members.ts";
import { readPolicy } from "./read-policy.ts";
import { Pool } from "./schema.ts";
import { Janitor } from "./schema-janitor.ts";
import type { Place } from "./source.ts";
import { warnOfPolicy } from "./warn.ts";

/** A pool as far as it could be read, with its places, so that pools can be compared. */
export interface PoolDraft {
  readonly name: string;
  readonly at: Place;
  readonly policy: PoolPolicy;
  /** How many resources to make and to name after the pool. */
  readonly count: number;
  readonly members: readonly MemberDraft[];
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
): PoolDraft | undefined {
  const fields = readKnown(document, value, keys, expected);
  if (fields === undefined) return undefined;
  const read = readPolicy(document, { at, fields, moreKeys });
  const janitor = readJanitor(document, read);
  const admission = readAdmission(document, fields.get("admission"));
  const policy = { ...read.policy, ...(admission && { admission: admission.policy }) };
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
    !fields.has("dynamic") &&
    !fields.has("limit")
  ) {
    const hint = "add count: 1, or members: and their names";
    document.source.refuse(at, "it has neither count nor members", hint);
  }
  const draft = {
    name,
    at,
    policy,
    count: count === undefined ? 0 : readCount(document, count.value, name, room),
    members: members === undefined ? [] : readMembers(document, members.value, room),
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
