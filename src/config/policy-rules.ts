/** Rules between the fields of a policy: what is refused although each value by itself is fine. */
import type { Field, Values } from "../core/model/fields.ts";
import type { PoolPolicy } from "../core/model/policy.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import { MissingFieldFinder } from "./missing-fields.ts";
import type { Entry } from "./read-map.ts";
import type { Place, Source } from "./source.ts";

interface Written {
  readonly policy: PoolPolicy;
  /** Those of them that were written. */
  readonly values: Values;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Takes the place of what is not written. */
  readonly before: Values;
}

export function checkPolicy(source: Source, pool: Place, written: Written): void {
  const rules = [checkMissing, checkPlacement, checkPace, checkAdaptive, checkDynamic];
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

const wholeOnly = ["cooldown", "lockDelay", "onRelease", "onExpire"];

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
