import { complete, isValues, type Values } from "../core/model/fields.ts";
import { dirtyState } from "../core/model/lifecycle.ts";
import { defaultPolicy, type PoolPolicy } from "../core/model/policy.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import type { ConfigDocument } from "./document.ts";
import { checkPolicy } from "./policy-rules.ts";
import { type MoreKeys, readFields, type WrittenFields } from "./read-fields.ts";
import type { Entry } from "./read-map.ts";
import type { Place } from "./source.ts";

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
