/** Finds all pools, spaces, hubs, resources, leases and requests that contain a text, the best hits first. */
import { hubStateOf } from "../model/hub.ts";
import type { RequestId, SpaceName } from "../model/ids.ts";
import { freeState } from "../model/lifecycle.ts";
import { nearest } from "../model/nearest.ts";
import {
  claimsOn,
  idleCount,
  type Pool,
  type Resource,
  type State,
  shownState,
} from "../model/state.ts";
import { stateWord } from "../model/state-word.ts";
import { isMade, ownerOfCluster } from "./cluster-view.ts";
import { someOfEachKind } from "./some-of-each-kind.ts";

export interface SearchHit {
  readonly kind: "pool" | "space" | "hub" | "cluster" | "request" | "lease" | "resource";
  readonly name: string;
  /** What people call it, if the name is an id: its holder. */
  readonly title: string;
  readonly about: string;
  /** The text that was found, if it is in no name: a line of a note or a reason, a label. */
  readonly match?: string;
}

interface Candidate {
  readonly hit: SearchHit;
  /** What it is called. */
  readonly names: readonly string[];
  /** Requests wait for it. */
  readonly isWanted?: boolean;
  /** Nobody remembers the middle of one. */
  readonly id?: string;
  /** Other texts to search. Without user data, which may be credentials. */
  readonly texts?: readonly string[];
  /** What it is connected with: some of several words may be there, but not all of them. */
  readonly related?: () => readonly string[];
}

/** What of all this the one who searches may see. */
export interface SearchSight {
  readonly sees: (id: RequestId) => boolean;
  readonly seesSpace: (name: SpaceName) => boolean;
  readonly readsNote: (resource: Resource) => boolean;
  readonly seesHubs: boolean;
}

const seesAll: SearchSight = {
  sees: () => true,
  seesSpace: () => true,
  readsNote: () => true,
  seesHubs: true,
};

export interface SearchFound {
  readonly items: SearchHit[];
  readonly more: boolean;
  /** Of all that were found, by kind. */
  readonly counts: Record<string, number>;
  /** The nearest name or word, if nothing was found. */
  readonly meant?: string;
}

/**
 * How well a name fits: it is the text, begins with it, has a word that does, or has it inside. Who looks for a pool
 * means one that requests wait for: a word of its name is as good as the start.
 */
const fits = { exact: 0, start: 1, word: 2, inside: 3, none: 4 } as const;

/**
 * Returns at most `max` hits; `more` is true if there are others, and `counts` has all of each kind. Ignores case. What
 * has not the whole text may have all of its words, some of them in what it is connected with: the pool of a lease,
 * the holder of a resource. The best fit comes first; of equal ones pools (first those that requests wait for), spaces,
 * hubs, resources, then requests and leases. If not all can be shown, each kind has its part: hundreds of resources do not
 * hide the lease that somebody looks for. With `only`, hits of other kinds are counted and not returned.
 */
export function search(
  state: State,
  text: string,
  max: number,
  sight: SearchSight = seesAll,
  only?: SearchHit["kind"],
): SearchFound {
  const wanted = text.trim().toLowerCase();
  const words = [...new Set(wanted.split(/\s+/))];
  const byFit = Array.from({ length: fits.none }, () => new Map<string, SearchHit[]>());
  const counts: Record<string, number> = {};
  for (const { hit, ...candidate } of everything(state, sight)) {
    const whole = fitOf(candidate, wanted);
    const isInParts = whole === fits.none && words.length > 1 && words.length <= wordsMax;
    const kinds = byFit[isInParts ? fitOfAll(candidate, words) : whole];
    if (kinds === undefined) continue;
    counts[hit.kind] = (counts[hit.kind] ?? 0) + 1;
    if (only !== undefined && hit.kind !== only) continue;
    const hits = kinds.get(hit.kind);
    if (hits !== undefined && hits.length > max) continue;
    const shown = withMatch(hit, candidate, isInParts ? words : [wanted]);
    if (hits === undefined) kinds.set(hit.kind, [shown]);
    else hits.push(shown);
  }
  const items = byFit.flatMap((kinds) => [...kinds.values()].flat());
  const isNothing = Object.keys(counts).length === 0;
  const meant = !isNothing ? undefined : nearest(wanted, namesAndWords(state, sight));
  return {
    ...{ items: someOfEachKind(items, max), more: items.length > max, counts },
    ...(meant === undefined ? undefined : { meant }),
  };
}

/** Each is looked for in everything. More of them are a text, which is looked for as a whole. */
const wordsMax = 8;

/** What somebody may have meant: a name, how some of them begin, or a word that is in some of them. Resources begin like their pools. */
function* namesAndWords(state: State, sight: SearchSight): Generator<string> {
  const names = [
    ...state.pools.keys(),
    ...[...state.spacePolicies.keys()].filter((name) => sight.seesSpace(name)),
    ...(sight.seesHubs ? state.hubs.keys() : []),
  ];
  yield* names;
  yield* new Set(names.flatMap(beginnings).filter(isLong));
  yield* new Set(names.flatMap((name) => name.split(isWordEnd)).filter(isLong));
}

/** `a-b` of `a-b-c`: many names begin alike, and what somebody types ends there. */
function beginnings(name: string): string[] {
  return Array.from(name.matchAll(wordEnds), ({ index }) => name.slice(0, index));
}

/** Of a short word, every other one is a neighbour. */
function isLong(word: string): boolean {
  return word.length > 3;
}

function fitOf({ names, isWanted, id, texts = [] }: Omit<Candidate, "hit">, wanted: string) {
  let best: number = id === undefined ? fits.none : idFit(id.toLowerCase(), wanted);
  for (const name of names) best = Math.min(best, nameFit(name.toLowerCase(), wanted));
  if (best === fits.word && isWanted) return fits.start;
  if (best < fits.none) return best;
  return texts.some((one) => one.toLowerCase().includes(wanted)) ? fits.inside : fits.none;
}

/** So much of a line is enough to recognise it. */
const matchLengthMax = 160;

/** With the line that has the first of the words that nothing else shows. */
function withMatch(
  hit: SearchHit,
  { names, texts = [] }: Omit<Candidate, "hit">,
  words: readonly string[],
): SearchHit {
  const shown = [...names, hit.name, hit.about].map((one) => one.toLowerCase());
  const lines = texts.flatMap((text) => text.split("\n"));
  for (const word of words.filter((one) => !shown.some((text) => text.includes(one)))) {
    const line = lines.find((one) => one.toLowerCase().includes(word));
    if (line !== undefined) return { ...hit, match: excerpt(line, word) };
  }
  return hit;
}

/** The line, or what is around the word. */
function excerpt(line: string, word: string): string {
  const whole = line.trim();
  if (whole.length <= matchLengthMax) return whole;
  const at = whole.toLowerCase().indexOf(word);
  const from = Math.max(0, Math.min(at - matchLengthMax / 4, whole.length - matchLengthMax));
  const part = whole.slice(from, from + matchLengthMax).trim();
  return `${from === 0 ? "" : "… "}${part}${from + matchLengthMax < whole.length ? " …" : ""}`;
}

/** As good as the worst of the words. One of them must be in the candidate itself. */
function fitOfAll(candidate: Omit<Candidate, "hit">, words: readonly string[]): number {
  const own = words.map((word) => fitOf(candidate, word));
  const elsewhere = words.filter((_, index) => own[index] === fits.none);
  if (elsewhere.length === 0) return Math.max(...own);
  if (elsewhere.length === words.length) return fits.none;
  const related = candidate.related?.().map((text) => text.toLowerCase()) ?? [];
  const isRelated = elsewhere.every((word) => related.some((text) => text.includes(word)));
  return isRelated ? fits.inside : fits.none;
}

function idFit(id: string, wanted: string): number {
  if (id === wanted) return fits.exact;
  return id.startsWith(wanted) ? fits.start : fits.none;
}

const isWordEnd = /[^a-z0-9]/;
const wordEnds = /[^a-z0-9]/g;

function nameFit(name: string, wanted: string): number {
  const first = name.indexOf(wanted);
  if (first === -1) return fits.none;
  if (first === 0) return name.length === wanted.length ? fits.exact : fits.start;
  for (let at = first; at !== -1; at = name.indexOf(wanted, at + 1)) {
    if (isWordEnd.test(name.charAt(at - 1))) return fits.word;
  }
  return fits.inside;
}

function* everything(state: State, sight: SearchSight): Generator<Candidate> {
  yield* poolsThat(state, true);
  yield* poolsThat(state, false);
  for (const name of new Set([...state.spacePolicies.keys(), ...state.spaces.keys()])) {
    if (!sight.seesSpace(name)) continue;
    const { leases, waiting } = state.spaces.get(name) ?? { leases: new Set(), waiting: 0 };
    const about = `${leases.size} leases, ${waiting} waiting`;
    yield { hit: { kind: "space", name, title: name, about }, names: [name] };
  }
  for (const hub of sight.seesHubs ? state.hubs.values() : []) {
    const { name, clusters } = hub;
    const about = `${hubStateOf(hub)} hub, ${clusters.size} clusters`;
    yield { hit: { kind: "hub", name, title: name, about }, names: [name] };
  }
  for (const resource of state.resources.values()) {
    const { name, pool, labels } = resource;
    const about = `${stateWord(shownState(resource))} in ${pool.name}`;
    const texts = [...notesOn(resource, sight), ...Object.values(labels)];
    const kind = isSeenCluster(resource, sight) ? "cluster" : "resource";
    const related = () => [pool.name, ...holdersOf(resource, sight)];
    yield { hit: { kind, name, title: name, about }, names: [name], texts, related };
  }
  for (const [id, { ask }] of state.requests) {
    if (!sight.sees(id)) continue;
    const about = `waits for ${ask.items.map(({ pool }) => pool).join(", ")}${ofSpace(ask)}`;
    const related = () => ask.items.flatMap(({ pool, anyOf = [] }) => [pool, ...anyOf]);
    const hit = { kind: "request", name: id, title: ask.holder, about } as const;
    yield { hit, ...asked(id, ask), related };
  }
  for (const [id, { ask, claims }] of state.leases) {
    if (!sight.sees(id)) continue;
    const about = `holds ${claims.map(({ resource }) => resource.name).join(", ")}${ofSpace(ask)}`;
    const related = () => claims.flatMap(({ resource: { name, pool } }) => [name, pool.name]);
    const hit = { kind: "lease", name: id, title: ask.holder, about } as const;
    yield { hit, ...asked(id, ask), related };
  }
}

function* poolsThat(state: State, isWanted: boolean): Generator<Candidate> {
  for (const pool of state.pools.values()) {
    if (pool.waiting > 0 !== isWanted) continue;
    const { name } = pool;
    const hit = { kind: "pool", name, title: name, about: aboutPool(pool) } as const;
    yield { hit, names: [name], isWanted };
  }
}

/** Who has drained it, and why, is a note too. */
function notesOn(resource: Resource, { readsNote }: SearchSight): string[] {
  if (!readsNote(resource)) return [];
  const { note, drainReason } = resource;
  return drainReason === null ? [note] : [note, drainReason.why, drainReason.by];
}

/** Those that the one who searches may see, with their spaces. */
function holdersOf(resource: Resource, { sees }: SearchSight): string[] {
  const seen = Array.from(claimsOn(resource)).filter(({ lease }) => sees(lease.id));
  return seen.flatMap(({ lease: { ask } }) => [ask.holder, ask.space ?? ""]);
}

/** Others see a lent cluster as a resource of its pool only. */
function isSeenCluster(resource: Resource, { seesSpace }: SearchSight): boolean {
  if (!isMade(resource)) return false;
  const owner = ownerOfCluster(resource);
  return owner === null || (owner !== undefined && seesSpace(owner));
}

/** `8 resources, 2 free, 5 waiting`. A shared one has no number of free resources. */
function aboutPool(pool: Pool): string {
  const { members, shared, waiting } = pool;
  return [
    members.size === 1 ? "1 resource" : `${members.size} resources`,
    ...(shared.size > 0 ? [] : [`${idleCount(pool, freeState)} free`]),
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
  ].join(", ");
}

function ofSpace({ space }: Pick<Asked, "space">): string {
  return space === undefined ? "" : `, space ${space}`;
}

interface Asked {
  readonly holder: string;
  readonly space?: SpaceName | undefined;
  readonly labels?: Readonly<Record<string, string>>;
}

function asked(id: string, { holder, space, labels = {} }: Asked) {
  return { id, names: [holder], texts: [space ?? "", ...Object.values(labels)] };
}
