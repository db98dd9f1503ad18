import type { FastifyReply, FastifyRequest } from "fastify";
import Type, { type Static } from "typebox";
import { PastEvent } from "../api/event-schemas.ts";
import { limits } from "../api/limits.ts";
import { Page } from "../api/schemas.ts";
import type { SpaceName } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import type { FoundEvent } from "../insight/event-search.ts";
import { knownTypes } from "../journal/format.ts";
import type { CallerShares } from "./caller-shares.ts";
import type { App, Context } from "./context.ts";
import { historyProblem } from "./history.ts";
import { numberInCursor, pageFields, pageSizeOf } from "./paging.ts";
import { eventSightOf, limitedReaderOf, renderEvent, sightOfOwner } from "./render/event.ts";
import { abortOnClose, momentIn, momentText } from "./request.ts";
import { problems } from "./responses.ts";
import { onlySpace } from "./sight.ts";
import { unknownWord } from "./unknown-word.ts";

const filter = (description: string) =>
  Type.Optional(Type.String({ maxLength: limits.nameLengthMax, description }));

const Query = Type.Object(
  {
    id: filter("Only of this request or lease"),
    resource: filter("Only of this resource"),
    type: filter("Only of this type, or of types that begin so, such as lease-"),
    trouble: Type.Optional(
      Type.Literal("true", { description: "Only what somebody should look at" }),
    ),
    pool: filter("Only of this pool, its resources and the requests for it"),
    space: filter("Only of requests and leases of this space"),
    text: filter("Only with this text in a name, state or reason, in small or large letters"),
    since: filter(momentText("At this time or later")),
    until: filter(momentText("Before this time")),
    ...pageFields,
  },
  { additionalProperties: false },
);

const EventPage = Page(PastEvent);

/** The journal has them. The feed starts at one event and never ends, so it cannot answer this. */
export function pastEventsRoute(
  app: App,
  { broker, insight }: Context,
  questions: CallerShares,
): void {
  const schema = {
    tags: ["events"],
    summary: "Past events, the latest first: all of them, or those that match",
    description:
      "From the journal, as far back as it is kept. A page may be short or empty and still have a " +
      "`next`: the search then continues there. Callers that are limited to a space get the events of " +
      "this space, and those of pools and resources without who held them",
    querystring: Query,
    response: { 200: EventPage, ...problems(400, 503) },
  };
  app.get("/v1/events/past", { schema }, async (request, reply) => {
    using _share = questions.take(request);
    const signal = abortOnClose(reply.raw);
    try {
      return await answer(request, reply, signal);
    } catch (error) {
      if (signal.aborted) return reply.hijack(); // The client is gone.
      throw error;
    }
  });

  async function answer(
    request: FastifyRequest<{ Querystring: Static<typeof Query> }>,
    reply: FastifyReply,
    signal: AbortSignal,
  ): Promise<FastifyReply> {
    const { limit, after, id, resource, trouble, since, until, ...match } = request.query;
    mustBeType(match.type);
    const now = broker.now();
    const { space, only } = await broker.read((state) => {
      const limit = onlySpace(request, state);
      return { space: limit, only: limit && limitedReaderOf(state, limit) };
    });
    const search = {
      filter: { id, resource },
      match: { ...match, trouble: trouble === "true" },
      only,
      since: momentIn("query.since", since, now) as Instant | undefined,
      until: momentIn("query.until", until, now) as Instant | undefined,
      limit: pageSizeOf(limit),
      // A cursor from before a restore may be beyond the end.
      before: Math.min(numberInCursor(after) ?? Number.POSITIVE_INFINITY, broker.head + 1),
    };
    const { items, next } = await insight.ask("events", search, { signal }).catch(historyProblem);
    const texts = await broker.read((state) => shownTexts(items, state, space));
    const cursor = JSON.stringify(next === null ? null : String(next));
    // Events are text already, in the form that the feed has.
    reply.type("application/json").serializer((text: string) => text);
    return reply.send(`{"items":[${texts.join(",")}],"next":${cursor}}`);
  }
}

/**
 * Without the events of which the caller may see only the kind: with the filter of a resource even that would
 * tell when another space held it. The search leaves them out too; whose a cluster is may change meanwhile.
 */
function shownTexts(
  items: readonly FoundEvent[],
  state: State,
  only: SpaceName | undefined,
): string[] {
  const sees = eventSightOf(state, only);
  return items.flatMap((item) => {
    // The state forgets requests that are over; the history knows whose they were.
    const owner = item.space as SpaceName | undefined;
    const sight = owner ? sightOfOwner(owner, only) : sees(item.event, item.at);
    return sight === "kind" ? [] : [renderEvent(item, () => sight)];
  });
}

/** A misspelt type would find nothing, which reads as "it never happened". */
function mustBeType(type: string | undefined): void {
  const known = knownTypes().sort();
  if (type === undefined || known.some((one) => one.startsWith(type))) return;
  throw unknownWord("query.type", { kind: "type", given: type }, known);
}
