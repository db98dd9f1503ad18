/**
 * Compares two states field by field, with everything that they reference. Comparing snapshots
 * could hide a field that both snapshots lack. Ignores caches, which may be dropped at any time,
 * and heartbeats, which are not in the journal.
 */
import type { State } from "../src/core/model/state.ts";

/** The fields that only heartbeats, polls and ticks change, by kind of entity. */
const volatile: Readonly<Record<string, readonly string[]>> = {
  lease: ["seenAt", "heartbeatAt", "expiresAt", "sent", "confirmed", "dueAt"],
  request: ["dueAt"],
  pool: ["dueAt", "unmetDemand"],
  // The order in which lines were made shapes a tree, and no decision depends on it: when a line gets
  // its place depends on when somebody reads. The queue is compared in its bucket.
  line: [
    ...["queue", "isStale", "share", "firstOrder", "lastOrder"],
    ...["weight", "left", "right", "total", "latest"],
  ],
};
/** The positions in a heap depend on all deadlines, including the volatile ones. */
const everywhere = ["cache", "heapIndex", "due"];

/** The path and both values of the first difference; undefined: there is none. */
export function stateDifference(a: State, b: State): string | undefined {
  return new Comparison().differ(a, b, "state");
}

class Comparison {
  readonly #pairs = new Map<object, object>();

  differ(a: unknown, b: unknown, path: string): string | undefined {
    if (Object.is(a, b)) return undefined;
    if (!isObject(a) || !isObject(b)) return `${path}: ${shown(a)} is not ${shown(b)}`;
    // Every cycle contains an entity; plain data is compared by value.
    if ("kind" in a) {
      const known = this.#pairs.get(a);
      if (known !== undefined) return known === b ? undefined : `${path}: not the same object`;
      this.#pairs.set(a, b);
    }
    if ("freeze" in a && "freeze" in b) return this.#differInside(call(a), call(b), path);
    if (a instanceof Map && b instanceof Map) return this.#differInside(keyed(a), keyed(b), path);
    if (a instanceof Set && b instanceof Set) return this.#differInside(named(a), named(b), path);
    if (!Array.isArray(a) && isIterable(a) && isIterable(b)) {
      return this.#differInside([...a], [...b], path);
    }
    return this.#differInside(a, b, path);
  }

  #differInside(a: object, b: object, path: string): string | undefined {
    const left = fields(a);
    const right = fields(b);
    for (const key of new Set([...left.keys(), ...right.keys()])) {
      const found = this.differ(left.get(key), right.get(key), `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function fields(value: object): Map<string, unknown> {
  const kind = "kind" in value && typeof value.kind === "string" ? value.kind : "";
  const left = new Set([...everywhere, ...(volatile[kind] ?? [])]);
  return new Map(
    Object.entries(value).filter(([key, field]) => field !== undefined && !left.has(key)),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

function call(value: object): object {
  return (value as { freeze(): object }).freeze();
}

/** Ignores the order of maps and sets. */
function keyed(map: ReadonlyMap<unknown, unknown>): object {
  const textOf = (key: unknown) => (isObject(key) ? nameOf(key) : String(key));
  return Object.fromEntries(Array.from(map, ([key, value]) => [textOf(key), value]));
}

function named(set: ReadonlySet<unknown>): object {
  return Object.fromEntries(Array.from(set, (element) => [nameOf(element), element]));
}

function nameOf(element: unknown): string {
  const { kind, name, id, lease, waiters } = element as Record<string, unknown>;
  // One request may be the first in several queues.
  if (isObject(waiters) && isIterable(waiters)) return `line ${[...waiters].map(nameOf).join()}`;
  const owner = isObject(lease) && "id" in lease ? `${lease.id}/` : "";
  return `${kind} ${owner}${name ?? id}`;
}

function shown(value: unknown): string {
  if (!isObject(value)) return JSON.stringify(value) ?? String(value);
  return nameOf(value);
}
