import { reservedStates } from "../core/model/lifecycle.ts";
import { quote } from "./problem.ts";
import type { Entry } from "./read-map.ts";
import type { Source } from "./source.ts";
import { stateKind } from "./text-kinds.ts";
import { readText } from "./yaml-scalars.ts";

/** A state that a resource may be put into; undefined if none is written or it cannot be used. */
export function readState(source: Source, field: Entry | undefined): string | undefined {
  if (field === undefined) return undefined;
  const state = readText(source, field.value, stateKind);
  if (state === undefined || !reservedStates.includes(state)) return state;
  const why = `${quote(state)} is a state that only Berth gives`;
  source.refuse(field.value, why, "write free, or dirty if it must be cleaned first");
  return undefined;
}
