/**
 * The conditions of an item on the resources of an exclusive pool: labels that they must have, or
 * the name of one resource. An item without conditions takes any resource.
 */
import { type Parameters, parametersKeyOf } from "./cluster.ts";
import type { Item } from "./command.ts";
import type { Bucket, ExclusiveResource } from "./state.ts";

export interface Selection {
  readonly count: number;
  readonly selector: Readonly<Record<string, string>>;
  readonly resource: string | undefined;
  /** Only for clusters: the parameters that they must have (`parametersKeyOf`). */
  readonly parametersKey?: string;
  /** The same text for the same conditions; empty if there are none. */
  readonly key: string;
}

const none: Selection["selector"] = {};

/** Returns null if the item takes any resource of the pool. */
export function selectionOf({ count, selector = none, resource }: Item): Selection | null {
  if (selector === none && resource === undefined) return null;
  const labels = Object.entries(selector).sort(([a], [b]) => (a < b ? -1 : 1));
  if (resource === undefined && labels.length === 0) return null;
  return { count, selector, resource, key: JSON.stringify([resource ?? null, labels]) };
}

/** The clusters with exactly these parameters. */
export function clusterSelection(count: number, parameters: Parameters): Selection {
  const parametersKey = parametersKeyOf(parameters);
  const key = `parameters ${parametersKey}`;
  return { count, selector: none, resource: undefined, parametersKey, key };
}

export function anyResource(count: number): Selection {
  return { count, selector: {}, resource: undefined, key: "" };
}

export function isAny({ key }: Selection): boolean {
  return key === "";
}

/** The fields of a resource that a selection compares. */
export interface Candidate {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly cluster?: { readonly parametersKey: string } | null;
}

export function isMatch({ name, labels, cluster }: Candidate, selection: Selection): boolean {
  const { resource, selector, parametersKey } = selection;
  if (parametersKey !== undefined && cluster?.parametersKey !== parametersKey) return false;
  if (resource !== undefined && resource !== name) return false;
  for (const key in selector) if (labels[key] !== selector[key]) return false;
  return true;
}

/** The conditions as a user types them: `region=eu-west`, `aws-3`, `version=4.20`. */
export function selectionText({ resource, selector, parametersKey = "[]" }: Texts): string {
  const entries = [...Object.entries(selector), ...parameterEntries(parametersKey)];
  const labels = entries.map(([key, value]) => `${key}=${value}`);
  return [...(resource === undefined ? [] : [resource]), ...labels].join(" ");
}

type Texts = Pick<Selection, "resource" | "selector" | "parametersKey">;

/** The inverse of `parametersKeyOf`. */
function parameterEntries(parametersKey: string): [string, string | number | boolean][] {
  return JSON.parse(parametersKey);
}

/**
 * The idle resources that match each selection of waiting requests, in the order of the idle list.
 * Without this index every decision would compare all idle resources with every waiting request.
 */
export interface MatchIndex {
  readonly bySelection: Map<string, Matches>;
  /** Null until a selection names a resource. */
  byName: Map<string, ExclusiveResource> | null;
}

interface Matches {
  readonly selection: Selection;
  readonly found: Set<ExclusiveResource>;
}

/** More than the requests that one decision evaluates, so that it reads each list only once. */
const selectionsMax = 256;

/** The idle resources of the bucket that match, longest idle first. */
export function matchingIdle(bucket: Bucket, selection: Selection): Iterable<ExclusiveResource> {
  if (isAny(selection)) return bucket.idle;
  const { matches } = bucket.cache;
  if (selection.resource !== undefined) {
    matches.byName ??= new Map(Array.from(bucket.idle, (one) => [one.name as string, one]));
    const named = matches.byName.get(selection.resource);
    return named !== undefined && isMatch(named, selection) ? [named] : [];
  }
  const known = matches.bySelection.get(selection.key);
  if (known !== undefined) return known.found;
  if (matches.bySelection.size >= selectionsMax) matches.bySelection.clear();
  const found = new Set<ExclusiveResource>();
  for (const resource of bucket.idle) if (isMatch(resource, selection)) found.add(resource);
  matches.bySelection.set(selection.key, { selection, found });
  return found;
}

/** Adds a resource that is now the last in the idle list of the bucket. */
export function indexIdle({ cache: { matches } }: Bucket, resource: ExclusiveResource): void {
  matches.byName?.set(resource.name, resource);
  if (matches.bySelection.size === 0) return;
  for (const { selection, found } of matches.bySelection.values()) {
    if (isMatch(resource, selection)) found.add(resource);
  }
}

/** Removes a resource that has left the idle list of the bucket. */
export function unindexIdle({ cache: { matches } }: Bucket, resource: ExclusiveResource): void {
  matches.byName?.delete(resource.name);
  if (matches.bySelection.size === 0) return;
  for (const { found } of matches.bySelection.values()) found.delete(resource);
}

export function dropMatches({ cache: { matches } }: Bucket): void {
  matches.bySelection.clear();
  matches.byName = null;
}
