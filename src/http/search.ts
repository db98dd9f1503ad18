import Type from "typebox";
import { limits } from "../api/limits.ts";
import { type SearchHit, SearchResult } from "../api/schemas.ts";
import { type State, shownState } from "../core/model/state.ts";
import type { App, Site } from "./context.ts";
import { problems } from "./responses.ts";

const Query = Type.Object(
  {
    q: Type.String({
      minLength: 1,
      maxLength: limits.holderLengthMax,
      description:
        "Part of a name, a holder, an id, a label's value or a note; case does not matter",
    }),
  },
  { additionalProperties: false },
);

/** Across everything that is there now; what has ended is in the history. */
export function searchRoute(app: App, { broker }: Site): void {
  const schema = {
    tags: ["page"],
    summary: "Pools, resources, leases and requests that have a text somewhere in them",
    querystring: Query,
    response: { 200: SearchResult, ...problems(400) },
  };
  app.get("/v1/search", { schema }, ({ query }) => broker.look((state) => search(state, query.q)));
}

function search(state: State, text: string): SearchResult {
  const wanted = text.trim().toLowerCase();
  const items: SearchHit[] = [];
  for (const { hit, words } of everything(state)) {
    if (!words.some((word) => word.toLowerCase().includes(wanted))) continue;
    if (items.length === limits.searchHitsMax) return { items, more: true };
    items.push(hit);
  }
  return { items, more: false };
}

interface Candidate {
  readonly hit: SearchHit;
  readonly words: readonly string[];
}

function* everything(state: State): Generator<Candidate> {
  for (const { name, members } of state.pools.values()) {
    const about = `${members.size} resources`;
    yield { hit: { kind: "pool", name, about }, words: [name] };
  }
  for (const [id, { ask }] of state.requests) {
    const about = `${ask.holder} waits for ${ask.items.map(({ pool }) => pool).join(", ")}`;
    yield { hit: { kind: "request", name: id, about }, words: wordsOf(id, ask) };
  }
  for (const [id, { ask, claims }] of state.leases) {
    const about = `${ask.holder} holds ${claims.map(({ resource }) => resource.name).join(", ")}`;
    yield { hit: { kind: "lease", name: id, about }, words: wordsOf(id, ask) };
  }
  for (const resource of state.resources.values()) {
    const { name, pool, labels, note } = resource;
    const about = `${shownState(resource)} in ${pool.name}`;
    const words = [name, note, ...Object.values(labels)];
    yield { hit: { kind: "resource", name, about }, words };
  }
}

type Asked = { readonly holder: string; readonly labels?: Readonly<Record<string, string>> };

function wordsOf(id: string, { holder, labels = {} }: Asked): string[] {
  return [id, holder, ...Object.values(labels)];
}
