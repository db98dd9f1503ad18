/** The policy of a pool as the page shows it: a label and a value for each field that is set. */
import type { Pool } from "../../../src/api/schemas.ts";
import { type Field, isValues, type Table } from "../../../src/core/model/fields.ts";
import { policyFields } from "../../../src/core/model/policy-fields.ts";

export type Fact = readonly [label: string, words: string];

/** What a pool without resources of its own does: the rest is about resources and their leases. */
const keysOfLimits = ["limit", "parent", "pace", "adaptive"];

type Ruled = Pick<Pool, "policy" | "limit"> & Partial<Pick<Pool, "place">>;

export function policyFacts({ policy, limit, place }: Ruled): Fact[] {
  const set = Object.entries(policy).filter(([key]) => {
    return limit === undefined || keysOfLimits.includes(key);
  });
  const facts = factsOf(policyFields, Object.fromEntries(set));
  const placed: Fact[] = place === undefined ? [] : [[policyFields.placement.label, place]];
  return [...placed, ...facts.filter(([, words]) => words !== "0s")];
}

/** The key in the configuration, and what it does. Undefined: this page does not know it. */
export function meaningOf(label: string): string | undefined {
  const field = Object.values<Field>(policyFields).find((row) => row.label === label);
  return field && `${field.key}: ${field.text.replaceAll("`", "")}`;
}

/** A newer server may send fields that this page does not know. They are shown under their key. */
function factsOf(table: Table, group: object): Fact[] {
  return Object.entries(group).flatMap(([key, value]): Fact[] => {
    const field = Object.values(table).find((row) => (row.wire ?? row.key) === key);
    const words = inWords(field, value);
    return words === "" ? [] : [[field?.label ?? key, words]];
  });
}

/** Groups in one line: `every 24s, burst 5`. */
function inWords(field: Field | undefined, value: unknown): string {
  if (!isValues(value)) return String(value ?? "");
  if (Array.isArray(value)) return value.join(", ");
  const kind = field?.kind;
  if (kind?.type === "by-state") {
    const rules = Object.entries(value).map(([state, rule]) => {
      return `${state}: ${inLine(kind.fields, isValues(rule) ? rule : {})}`;
    });
    return rules.join("; ");
  }
  return inLine(kind?.type === "group" ? kind.fields : unknown, value);
}

/** Of a newer server. */
const unknown: Table = {};

function inLine(table: Table, group: object): string {
  return factsOf(table, group)
    .map(([label, words]) => `${table === unknown ? label : label.toLowerCase()} ${words}`)
    .join(", ");
}
