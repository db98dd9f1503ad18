import { isMap } from "yaml";
import type { PoolPolicy, Silence } from "../core/model/policy.ts";
import type { ConfigDocument } from "./document.ts";
import { innerDurationLimits, silencesMax } from "./limits.ts";
import { readDuration } from "./read-duration.ts";
import { checkKeys, type Entry, knownFields, readMap, withinLimit } from "./read-map.ts";
import { readState } from "./read-state.ts";
import { SilenceRule } from "./schema-upkeep.ts";
import type { Spot } from "./source.ts";
import { stateKind } from "./text-kinds.ts";

const expected = { title: "map of silences", hint: "write { busy: 30m }" };
const ruleExpected = { title: "silence", hint: "write 30m, or { after: 30m, to: dirty }" };
const keys = Object.keys(SilenceRule.properties);

/** By the state that a resource is held in; undefined where there is none. */
export function readSilence(
  document: ConfigDocument,
  field: Entry | undefined,
  onExpire: string,
): PoolPolicy["silence"] {
  if (field === undefined) return undefined;
  const entries = readMap(document, field.value, expected) ?? [];
  const size = { count: entries.length, max: silencesMax, of: "states" };
  if (!withinLimit(document, field.at, size)) return undefined;
  checkKeys(document, entries, stateKind);
  const rules = entries.flatMap(({ key, value }) => {
    const rule = readRule(document, value, onExpire);
    return rule === undefined ? [] : [[key, rule] as const];
  });
  return rules.length === 0 ? undefined : Object.fromEntries(rules);
}

/** `30m` says after how long; where it goes then is what the pool does with all that expires. */
function readRule(document: ConfigDocument, spot: Spot, onExpire: string): Silence | undefined {
  const { source } = document;
  if (!isMap(spot.node)) {
    const afterMs = readDuration(source, spot, innerDurationLimits.silence);
    return afterMs === undefined ? undefined : { afterMs, to: onExpire };
  }
  const entries = readMap(document, spot, ruleExpected) ?? [];
  const fields = knownFields(document, entries, keys);
  const after = fields.get("after");
  const to = readState(source, fields.get("to")) ?? onExpire;
  if (after === undefined) {
    source.refuse(spot, "it does not say after how long", "add after: 30m");
    return undefined;
  }
  const afterMs = readDuration(source, after.value, innerDurationLimits.silence);
  return afterMs === undefined ? undefined : { afterMs, to };
}
