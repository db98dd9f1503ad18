/** Reads what a pool says of its pace, its rate, and the limit that it draws on. */
import { isScalar } from "yaml";
import type { PoolName } from "../core/model/ids.ts";
import {
  type AdaptivePolicy,
  defaultAdaptive,
  type PacePolicy,
  type PoolPolicy,
} from "../core/model/policy.ts";
import type { ConfigDocument } from "./document.ts";
import { durationLimits, resourcesMax } from "./limits.ts";
import { Adaptive, burstMax, Pace, rateMax, rateMin } from "./pace-schema.ts";
import { readDuration } from "./read-duration.ts";
import { type Entry, knownFields, readMap } from "./read-map.ts";
import { optionalNumber } from "./read-number.ts";
import { nameKind } from "./text-kinds.ts";
import { readText, refuseValue } from "./yaml-scalars.ts";

type Fields = ReadonlyMap<string, Entry>;
type Spaced = Pick<PoolPolicy, "pace" | "adaptive" | "parent" | "limit">;

export function readSpacing(document: ConfigDocument, fields: Fields): Spaced {
  const [parent, limit] = [fields.get("parent"), fields.get("limit")];
  const name = parent && readText(document.source, parent.value, nameKind);
  const most = optionalNumber(document, limit, { min: 0, max: resourcesMax, whole: true });
  const pace = readPace(document, fields);
  const adaptive = readAdaptive(document, fields.get("adaptive"));
  return {
    ...(name === undefined ? undefined : { parent: name as PoolName }),
    ...(most === undefined ? undefined : { limit: most }),
    ...(pace === undefined ? undefined : { pace }),
    ...(adaptive === undefined ? undefined : { adaptive }),
  };
}

const paceExpected = { title: "pace", hint: "write { every: 24s }, or { every: auto }" };

function readPace(document: ConfigDocument, fields: Fields): PacePolicy | undefined {
  const field = fields.get("pace");
  const entries = field && readMap(document, field.value, paceExpected);
  if (field === undefined || entries === undefined) return undefined;
  const keys = knownFields(document, entries, Object.keys(Pace.properties));
  const every = keys.get("every");
  if (every === undefined) {
    document.source.refuse(field.at, "it does not say how often", paceExpected.hint);
    return undefined;
  }
  const auto = isScalar(every.value.node) && every.value.node.value === "auto";
  if (auto && !fields.has("hold")) {
    const hint = "write a hold as well, or a duration such as 24s";
    document.source.refuse(
      every.at,
      "auto works the pace out from the hold, and there is none",
      hint,
    );
  }
  if (auto && fields.has("place")) {
    const state = "auto works the pace out from how many can be held, which no amount tells";
    document.source.refuse(every.at, state, "write a duration such as 24s");
  }
  const everyMs = auto ? "auto" : readDuration(document.source, every.value, durationLimits.every);
  if (everyMs === undefined) return undefined;
  const burst = optionalNumber(document, keys.get("burst"), { min: 1, max: burstMax, whole: true });
  const jitter = optionalNumber(document, keys.get("jitter"), { min: 0, max: 1 });
  return { everyMs, burst: burst ?? 1, jitter: jitter ?? 0 };
}

const adaptiveExpected = { title: "adaptive rate", hint: "write { min: 0.5, max: 6 }" };
const modes = ["off", "advise", "auto"] as const;
const rates = { min: rateMin, max: rateMax };

function readAdaptive(
  document: ConfigDocument,
  field: Entry | undefined,
): AdaptivePolicy | undefined {
  const entries = field && readMap(document, field.value, adaptiveExpected);
  if (field === undefined || entries === undefined) return undefined;
  const keys = knownFields(document, entries, Object.keys(Adaptive.properties));
  const [cut, raise] = (["cutEvery", "raiseAfter"] as const).map((key) => {
    const found = keys.get(key);
    return found && readDuration(document.source, found.value, durationLimits[key]);
  });
  const { source } = document;
  const policy: AdaptivePolicy = {
    ...defaultAdaptive,
    mode: readMode(document, keys.get("mode")) ?? defaultAdaptive.mode,
    min: optionalNumber(document, keys.get("min"), rates) ?? defaultAdaptive.min,
    max: optionalNumber(document, keys.get("max"), rates) ?? defaultAdaptive.max,
    factor:
      optionalNumber(document, keys.get("factor"), { min: 0.05, max: 0.99 }) ??
      defaultAdaptive.factor,
    step: optionalNumber(document, keys.get("step"), rates) ?? defaultAdaptive.step,
    cutEveryMs: cut ?? defaultAdaptive.cutEveryMs,
    raiseAfterMs: raise ?? defaultAdaptive.raiseAfterMs,
  };
  if (policy.min > policy.max) {
    const state = `its min of ${policy.min} is more than its max of ${policy.max}`;
    source.refuse(field.at, state, "write a min that is not above the max");
  }
  return policy;
}

function readMode(document: ConfigDocument, field: Entry | undefined) {
  if (field === undefined) return undefined;
  const { node } = field.value;
  // YAML 1.1 has `off` for false, and so may what wrote this file.
  const value = isScalar(node) && node.value === false ? "off" : isScalar(node) && node.value;
  const mode = modes.find((known) => known === value);
  if (mode === undefined) {
    const hint = `write ${modes.join(", ")}`;
    refuseValue(document.source, field.value, { title: "mode", hint });
  }
  return mode;
}
