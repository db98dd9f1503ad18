/** Finds all pools, resources, leases and requests that contain a text. */
import type { RequestId } from "../model/ids.ts";
import { type Resource, type State, shownState } from "../model/state.ts";

export interface SearchHit {
  readonly kind: "pool" | "request" | "lease" | "resource";
  readonly name: string;
  readonly about: string;
}

interface Candidate {
  readonly hit: SearchHit;
  /** The texts to search. Without user data, which may be credentials. */
  readonly texts: readonly string[];
}

/** What of all this the one who searches may see. */
export interface SearchSight {
  readonly sees: (id: RequestId) => boolean;
  readonly readsNote: (resource: Resource) => boolean;
}

const seesAll: SearchSight = { sees: () => true, readsNote: () => true };

/** Returns at most `max` hits; `more` is true if there are others. Ignores case. */
export function search(
  state: State,
  text: string,
  max: number,
  sight: SearchSight = seesAll,
): { items: SearchHit[]; more: boolean } {
  const wanted = text.trim().toLowerCase();
  const items: SearchHit[] = [];
  for (const { hit, texts } of everything(state, sight)) {
    if (!texts.some((one) => one.toLowerCase().includes(wanted))) continue;
    if (items.length === max) return { items, more: true };
    items.push(hit);
  }
  return { items, more: false };
}

function* everything(state: State, { sees, readsNote }: SearchSight): Generator<Candidate> {
  for (const { name, members } of state.pools.values()) {
    const about = `${members.size} resources`;
    yield { hit: { kind: "pool", name, about }, texts: [name] };
  }
  for (const [id, { ask }] of state.requests) {
    if (!sees(id)) continue;
    const about = `${ask.holder} waits for ${ask.items.map(({ pool }) => pool).join(", ")}`;
    yield { hit: { kind: "request", name: id, about }, texts: textsOf(id, ask) };
  }
  for (const [id, { ask, claims }] of state.leases) {
    if (!sees(id)) continue;
    const about = `${ask.holder} holds ${claims.map(({ resource }) => resource.name).join(", ")}`;
    yield { hit: { kind: "lease", name: id, about }, texts: textsOf(id, ask) };
  }
  for (const resource of state.resources.values()) {
    const { name, pool, labels, note } = resource;
    const about = `${shownState(resource)} in ${pool.name}`;
    const texts = [name, readsNote(resource) ? note : "", ...Object.values(labels)];
    yield { hit: { kind: "resource", name, about }, texts };
  }
}

type Asked = { readonly holder: string; readonly labels?: Readonly<Record<string, string>> };

function textsOf(id: string, { holder, labels = {} }: Asked): string[] {
  return [id, holder, ...Object.values(labels)];
}
