import Type from "typebox";
import { limits } from "../api/limits.ts";
import { SearchHit, SearchResult } from "../api/schemas.ts";
import { mayDo } from "../auth/roles.ts";
import { noteReader } from "../core/explain/resource-view.ts";
import { search } from "../core/explain/search.ts";
import type { SpaceName } from "../core/model/ids.ts";
import type { Resource } from "../core/model/state.ts";
import { callerOf } from "./authorize.ts";
import type { App, Context } from "./context.ts";
import { problems } from "./responses.ts";
import { maySee, onlySpace, sightOf } from "./sight.ts";

const Query = Type.Object(
  {
    q: Type.String({
      minLength: 1,
      maxLength: limits.holderLengthMax,
      description:
        "Part of a name, a holder, a label's value or a note, several words of these and of its pool or holder, or the start of an id; case does not matter",
    }),
    kind: Type.Optional({
      ...SearchHit.properties.kind,
      description: `Only these, up to ${limits.searchOfKindMax}; all kinds are counted`,
    }),
  },
  { additionalProperties: false },
);

/** Across everything that is there now; what has ended is in the history. */
export function searchRoute(app: App, { broker }: Context): void {
  const schema = {
    tags: ["page"],
    summary: "Pools, spaces, hubs, resources, leases and requests with a text, the best hits first",
    querystring: Query,
    response: { 200: SearchResult, ...problems(400) },
  };
  app.get("/v1/search", { schema }, (request) =>
    broker.read((state) => {
      const only = onlySpace(request, state);
      const { q, kind } = request.query;
      const sight = {
        sees: sightOf(state, only),
        seesSpace: (name: SpaceName) => maySee(name, only),
        readsNote: (resource: Resource) => maySee(noteReader(resource), only),
        seesHubs: mayDo(callerOf(request).role, "observe"),
      };
      const max = kind === undefined ? limits.searchHitsMax : limits.searchOfKindMax;
      return search(state, q, max, sight, kind);
    }),
  );
}
