import Type from "typebox";
import { PastEvent } from "../api/event-schemas.ts";
import { limits } from "../api/limits.ts";
import { Page } from "../api/schemas.ts";
import type { App, Context } from "./context.ts";
import { historyProblem } from "./history.ts";
import { numberInCursor, pageFields, pageSizeOf } from "./paging.ts";
import { eventSightOf, renderEvent } from "./render/event.ts";
import { problems } from "./responses.ts";
import { onlySpace } from "./sight.ts";

const filter = (description: string) =>
  Type.Optional(Type.String({ maxLength: limits.nameLengthMax, description }));

const Query = Type.Object(
  {
    id: filter("Only of this request or lease"),
    resource: filter("Only of this resource"),
    ...pageFields,
  },
  { additionalProperties: false },
);

const EventPage = Page(PastEvent);

/** The journal has them. The feed starts at one event and never ends, so it cannot answer this. */
export function pastEventsRoute(app: App, { broker, insight }: Context): void {
  const schema = {
    tags: ["events"],
    summary: "Past events of a request, a lease or a resource, the latest first",
    description:
      "From the journal, as far back as it is kept. A page may be short or empty and still have a " +
      "`next`: the search then continues there",
    querystring: Query,
    response: { 200: EventPage, ...problems(400, 503) },
  };
  app.get("/v1/events/past", { schema }, async (request, reply) => {
    const { limit, after, id, resource } = request.query;
    const search = {
      filter: { id, resource },
      limit: pageSizeOf(limit),
      before: numberInCursor(after) ?? broker.head + 1,
    };
    const { items, next } = await insight.ask("events", search).catch(historyProblem);
    const found = await broker.read((state) => {
      const sees = eventSightOf(state, onlySpace(request, state));
      return `[${items.map((item) => renderEvent(item, sees)).join(",")}]`;
    });
    const cursor = JSON.stringify(next === null ? null : String(next));
    // Events are text already, in the form that the feed has.
    reply.type("application/json").serializer((text: string) => text);
    return reply.send(`{"items":${found},"next":${cursor}}`);
  });
}
