import { type PrioritiesSpec, plainPriorities } from "../core/model/priority.ts";
import type { ConfigDocument } from "./document.ts";
import { priorityLimits as limits } from "./limits.ts";
import { type Entry, optionalNumber, readDuration, readKnown, readNamed } from "./read-values.ts";
import { Ageing } from "./schema-priorities.ts";
import { classKind } from "./text-kinds.ts";

export interface PriorityFields {
  readonly priorities: Entry | undefined;
  readonly ageing: Entry | undefined;
}

const named = {
  ...{ title: "map of priorities", hint: "write { urgent: 100, nightly: -10 }" },
  ...{ names: classKind, max: limits.classesMax, of: "priorities" },
};
const ageingExpected = { title: "map with every", hint: "write { every: 10m }" };
const ageingKeys = Object.keys(Ageing.properties);
const anyPriority = { min: -limits.priorityMax, max: limits.priorityMax, whole: true } as const;
const anyStep = { ...anyPriority, min: 1 };

export function readPriorities(
  document: ConfigDocument,
  { priorities, ageing }: PriorityFields,
): PrioritiesSpec {
  const classes: Record<string, number> = {};
  for (const entry of priorities === undefined ? [] : readNamed(document, priorities, named)) {
    classes[entry.key] = optionalNumber(document, entry, anyPriority) ?? 0;
  }
  return { classes, ageing: ageing ? readAgeing(document, ageing) : plainPriorities.ageing };
}

function readAgeing(document: ConfigDocument, field: Entry): PrioritiesSpec["ageing"] {
  const fields = readKnown(document, field.value, ageingKeys, ageingExpected);
  if (fields === undefined) return null;
  const every = fields.get("every");
  if (every === undefined) {
    document.source.refuse(field.value, "it has no every", ageingExpected.hint);
    return null;
  }
  const everyMs = readDuration(document.source, every.value, limits.every);
  return {
    everyMs: everyMs ?? limits.every.minMs,
    step: optionalNumber(document, fields.get("step"), anyStep) ?? 1,
    max: optionalNumber(document, fields.get("max"), anyPriority) ?? 0,
  };
}
