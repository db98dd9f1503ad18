import Type from "typebox";
import { limits } from "../api/limits.ts";
import { SearchResult } from "../api/schemas.ts";
import { mayDo } from "../auth/roles.ts";
import { noteReader } from "../core/explain/resource-view.ts";
import { search } from "../core/explain/search.ts";
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
      return search(state, request.query.q, limits.searchHitsMax, {
        sees: sightOf(state, only),
        seesSpace: (name) => maySee(name, only),
        readsNote: (resource) => maySee(noteReader(resource), only),
        seesHubs: mayDo(callerOf(request).role, "observe"),
      });
    }),
  );
}
