/**
 * Finds the resources of a long list that events have changed, so that only those are read again.
 */
import { limits } from "../../../src/api/limits.ts";
import type { Resource } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";

/** Events that may change every resource of a pool. Reports and admissions change none. */
const changesAll: ReadonlySet<string> = new Set([
  ...["pool-defined", "pool-retired", "pool-removed"],
  ...["resource-added", "resource-moved"],
]);

/**
 * Returns their names, or undefined if the events do not contain them or all must be read anyway.
 */
export function changedResources(
  pool: string,
  known: readonly Pick<Resource, "name">[],
  events: readonly FeedEvent[],
): readonly string[] | undefined {
  const ours = new Set(known.map(({ name }) => name));
  const touched = new Set<string>();
  for (const event of events) {
    if (changesAll.has(event.type) && event["pool"] === pool) return undefined;
    const named = resourceNamesIn(event);
    if (named.length === 0 && event.type.startsWith("resource-")) return undefined;
    for (const name of named) if (ours.has(name)) touched.add(name);
  }
  const names = [...touched];
  return names.join().length > limits.namesLengthMax ? undefined : names;
}

/** All values of keys named `resource`, at any depth. */
function resourceNamesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    return key === "resource" && typeof part === "string" ? [part] : resourceNamesIn(part);
  });
}

/** Replaces the changed resources in the list, and removes those that no longer exist. */
export function replaceChanged(
  before: readonly Resource[],
  names: readonly string[],
  found: readonly Resource[],
): Resource[] {
  const anew = new Map(found.map((resource): [string, Resource] => [resource.name, resource]));
  const gone = new Set(names.filter((name) => !anew.has(name)));
  return before.flatMap((resource) => {
    return gone.has(resource.name) ? [] : (anew.get(resource.name) ?? resource);
  });
}
