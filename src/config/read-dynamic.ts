import { freeState } from "../core/model/lifecycle.ts";
import type { DynamicPolicy } from "../core/model/policy.ts";
import type { ConfigDocument } from "./document.ts";
import { innerDurationLimits, resourcesMax } from "./limits.ts";
import { readDuration } from "./read-duration.ts";
import { type Entry, knownFields, readMap } from "./read-map.ts";
import { type Room, take } from "./read-members.ts";
import { readState } from "./read-state.ts";
import { Dynamic } from "./schema-upkeep.ts";
import { readWhole } from "./yaml-scalars.ts";

const expected = { title: "dynamic part", hint: "write { max: 5 }, or { min: 1, max: 5 }" };
const keys = Object.keys(Dynamic.properties);

/** Undefined where there is none, or, with the reason in the source, if it cannot be used. */
export function readDynamic(
  document: ConfigDocument,
  field: Entry | undefined,
  room: Room,
): DynamicPolicy | undefined {
  if (field === undefined) return undefined;
  const { source } = document;
  const entries = readMap(document, field.value, expected);
  if (entries === undefined) return undefined;
  const fields = knownFields(document, entries, keys);
  const [min, max, lifespan] = [fields.get("min"), fields.get("max"), fields.get("lifespan")];
  if (max === undefined) {
    source.refuse(field.value, "it does not say how many at most", "add max: 5");
    return undefined;
  }
  const most = readWhole(source, max.value, { min: 1, max: resourcesMax });
  const least = min === undefined ? 0 : readWhole(source, min.value, { min: 0, max: resourcesMax });
  const state = readState(source, fields.get("state")) ?? freeState;
  const lifespanMs = lifespan && readDuration(source, lifespan.value, innerDurationLimits.lifespan);
  if (most === undefined || least === undefined) return undefined;
  if (min !== undefined && least > most) {
    source.refuse(min.value, `${least} is more than max, which is ${most}`, "swap them");
    return undefined;
  }
  if (!take(document, max.value, most, room)) return undefined;
  return { min: least, max: most, state, lifespanMs: lifespanMs ?? null };
}
