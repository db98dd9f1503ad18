import { dirtyState } from "../core/model/lifecycle.ts";
import { defaultPolicy, type PoolPolicy } from "../core/model/policy.ts";
import { checkCapacities } from "./check-capacity.ts";
import type { ConfigDocument } from "./document.ts";
import { type DurationKey, durationLimits } from "./limits.ts";
import { type AdmissionDraft, readAdmission } from "./read-admission.ts";
import { readPlacement } from "./read-capacity.ts";
import { readDuration } from "./read-duration.ts";
import { readDynamic } from "./read-dynamic.ts";
import { type JanitorDraft, readJanitor } from "./read-janitor.ts";
import { type Entry, knownFields, readMap } from "./read-map.ts";
import { type MemberDraft, type Room, readCount, readMembers } from "./read-members.ts";
import { readSpacing } from "./read-pace.ts";
import { readSilence } from "./read-silence.ts";
import { readState } from "./read-state.ts";
import { Pool } from "./schema.ts";
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
  readonly janitor: JanitorDraft | undefined;
  readonly admission: AdmissionDraft | undefined;
}

export type Fields = ReadonlyMap<string, Entry>;

const expected = { title: "pool", hint: "write { count: 1 }, or members: and their names" };
const keys = Object.keys(Pool.properties);

/** Undefined, with the reason in the source, if this is no pool at all. */
export function readPool(
  document: ConfigDocument,
  { key: name, at, value }: Entry,
  room: Room,
): PoolDraft | undefined {
  const entries = readMap(document, value, expected);
  if (entries === undefined) return undefined;
  const fields = knownFields(document, entries, keys);
  const janitor = readJanitor(document, fields.get("janitor"));
  const admission = readAdmission(document, fields.get("admission"));
  const policy = {
    ...readPolicy(document, fields, janitor, room),
    ...(admission && { admission: admission.policy }),
  };
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
    const state = "the pool has no resources, so whoever asks for one is refused";
    document.source.warn(size.at, state, "give it some, or remove the pool");
  }
  return draft;
}

function readPolicy(
  document: ConfigDocument,
  fields: Fields,
  janitor: JanitorDraft | undefined,
  room: Room,
): PoolPolicy {
  const { source } = document;
  const duration = (key: DurationKey): number | undefined => {
    const field = fields.get(key);
    return field === undefined ? undefined : readDuration(source, field.value, durationLimits[key]);
  };
  const onRelease = readState(source, fields.get("onRelease")) ?? defaultPolicy.onRelease;
  // Nothing may stay out of use until somebody notices, so expiry is a special case only where a
  // janitor will look after it.
  const otherwise = janitor === undefined ? onRelease : dirtyState;
  const onExpire = readState(source, fields.get("onExpire")) ?? otherwise;
  const holdMs = duration("hold") ?? defaultPolicy.holdMs;
  const silence = readSilence(document, fields.get("silence"), onExpire);
  const dynamic = readDynamic(document, fields.get("dynamic"), room);
  const placement = readPlacement(document, fields);
  return {
    // A holder of what is taken back by itself needs no heartbeat until then.
    ttlMs: duration("ttl") ?? Math.max(defaultPolicy.ttlMs, holdMs ?? 0),
    lifetimeMs: duration("lifetime") ?? defaultPolicy.lifetimeMs,
    holdMs,
    cooldownMs: duration("cooldown") ?? defaultPolicy.cooldownMs,
    lockDelayMs: duration("lockDelay") ?? defaultPolicy.lockDelayMs,
    patienceMs: duration("patience") ?? defaultPolicy.patienceMs,
    onRelease,
    onExpire,
    ...(silence && { silence }),
    ...(dynamic && { dynamic }),
    ...(janitor && { cleaning: janitor.cleaning }),
    ...readSpacing(document, fields),
    ...(placement && { placement }),
  };
}
