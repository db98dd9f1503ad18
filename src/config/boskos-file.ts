import type { PoolName, ResourceName } from "../core/model/ids.ts";
import { freeState } from "../core/model/lifecycle.ts";
import {
  type DynamicPolicy,
  defaultPolicy,
  type MemberSpec,
  type PoolSpec,
} from "../core/model/policy.ts";
import { type BoskosEntry, readEntry } from "./boskos-entry.ts";
import { checkRules, isStatic } from "./boskos-rules.ts";
import { lenientList } from "./boskos-yaml.ts";
import { type ConfigDocument, quote, type Source } from "./document.ts";
import { poolsMax, resourcesMax } from "./limits.ts";
import { noLabels } from "./read-pool.ts";
import { type Entry, withinLimit } from "./read-values.ts";

const emptyHint = "write resources: [{ type: my-type, names: [one] }]";

/** What Boskos's `resources` come to as pools; only of use if the source has no problems. */
export function readBoskos(document: ConfigDocument, resources: Entry): readonly PoolSpec[] {
  const { source } = document;
  const items = lenientList(document, resources.value);
  if (items === undefined) return [];
  if (items.length === 0) source.refuseAs(resources.at, "empty config", emptyHint);
  const entries = items.flatMap((item, index) => readEntry(document, item, index) ?? []);
  checkRules(source, entries);
  const count = entries.reduce((sum, { names, max }) => sum + Math.max(names.length, max.value), 0);
  const types = new Set(entries.map(({ type }) => type.value)).size;
  if (!withinLimit(document, resources.at, { count, max: resourcesMax, of: "resources" }))
    return [];
  if (!withinLimit(document, resources.at, { count: types, max: poolsMax, of: "types" })) return [];
  for (const entry of entries) {
    warnOfType(source, entry);
    warnOfUserData(source, entry);
  }
  return poolsOf(entries);
}

/**
 * Entries of one type are one pool: the names of all of them, and the last that is dynamic. How
 * Boskos has it, the state counts for new resources alone, and a lifespan for dynamic ones.
 */
function poolsOf(entries: readonly BoskosEntry[]): PoolSpec[] {
  const byType = Map.groupBy(entries, ({ type }) => type.value);
  return Array.from(byType, ([type, parts]) => {
    const dynamic = parts.findLast((entry) => !isStatic(entry));
    const states = [...new Set(parts.flatMap((part) => part.states))];
    return {
      name: type as PoolName,
      policy: {
        ...defaultPolicy,
        ...(states.length > 0 && { states }),
        ...(dynamic && { dynamic: dynamicOf(dynamic) }),
      },
      members: parts.flatMap(membersOf),
    };
  });
}

function dynamicOf({ min, max, state, lifespanMs }: BoskosEntry): DynamicPolicy {
  return {
    min: Math.max(0, min.value),
    max: max.value,
    state: state || freeState,
    lifespanMs,
  };
}

function membersOf({ names, state, userData }: BoskosEntry): MemberSpec[] {
  const initial = state === "" || state === freeState ? undefined : { state };
  return names.map(({ value }) => {
    const seed = userData.value.get(value);
    const member = { name: value as ResourceName, labels: noLabels, ...initial };
    return seed === undefined ? member : { ...member, userData: seed };
  });
}

function warnOfUserData(source: Source, { names, userData: { value, at } }: BoskosEntry): void {
  const known = new Set(names.map((name) => name.value));
  const stray = [...value.keys()].filter((name) => !known.has(name));
  if (stray.length === 0) return;
  const state = `${quote(stray.slice(0, 5).join(", "))} is not one of the names`;
  source.warn(at, state, "its user data is not used: fix the name, or remove it");
}

const ordinary = /^[^\s:\p{C}]{1,253}$/u;

/** A type may be called anything, but `--pool` takes a colon for a count and knows no spaces. */
function warnOfType(source: Source, { type: { value, at } }: BoskosEntry): void {
  if (value === "" || ordinary.test(value)) return;
  const why = `${quote(value)} cannot be asked for with berth run or berth acquire`;
  source.warn(at, why, "Boskos's clients can; otherwise use letters, digits, . _ and -");
}
