/** Which resources of a long list events have changed, so that only those are read again. */
import { limits } from "../../../src/api/limits.ts";
import type { Resource } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";

/** Of its pool; what holders signal and what is let in is no news of any resource. */
const changesAll: ReadonlySet<string> = new Set([
  ...["pool-defined", "pool-retired", "pool-removed"],
  ...["resource-added", "resource-moved"],
]);

/** Their names; undefined: it cannot be told from the events, or would be more than all of them. */
export function touchedIn(
  pool: string,
  known: readonly Pick<Resource, "name">[],
  events: readonly FeedEvent[],
): readonly string[] | undefined {
  const ours = new Set(known.map(({ name }) => name));
  const touched = new Set<string>();
  for (const event of events) {
    if (changesAll.has(event.type) && event["pool"] === pool) return undefined;
    const named = namedIn(event);
    if (named.length === 0 && event.type.startsWith("resource-")) return undefined;
    for (const name of named) if (ours.has(name)) touched.add(name);
  }
  const names = [...touched];
  return names.join().length > limits.namesLengthMax ? undefined : names;
}

/** Whatever is called a resource, however deep. */
function namedIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    return key === "resource" && typeof part === "string" ? [part] : namedIn(part);
  });
}

/** The list with these read anew; those of them that are no longer there are left out. */
export function putInPlace(
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
