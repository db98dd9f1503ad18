import Type, { type Static } from "typebox";

const nullableText = Type.Union([Type.String(), Type.Null()]);

/** A tenant: what it holds, and what it may hold. */
export const Space = Type.Object({
  name: Type.String(),
  weight: Type.Number(),
  share: Type.Number({
    description:
      "The largest part that it holds of any pool or dimension, divided by its weight. Within a " +
      "priority the space with the lowest share is next",
  }),
  leases: Type.Integer(),
  waiting: Type.Integer({ description: "Requests that wait" }),
  waitingMax: Type.Union([Type.Integer(), Type.Null()]),
  holds: Type.Array(
    Type.Object({
      pool: Type.String(),
      dimension: { ...nullableText, description: "Null: claims are counted" },
      held: Type.Number(),
      capacity: Type.Number(),
    }),
    { description: "The largest part first" },
  ),
  waits: Type.Optional(
    Type.Array(Type.Object({ pool: Type.String(), requests: Type.Integer() }), {
      description:
        "How many of its requests wait for each pool, or below one that is only a limit. Only in GET /v1/spaces",
    }),
  ),
  quotas: Type.Array(
    Type.Object({
      pool: { ...nullableText, description: "Null: the quota of costs" },
      dimension: nullableText,
      held: Type.Number(),
      max: Type.Number(),
      cohort: Type.Union(
        [
          Type.Object({ name: Type.String(), used: Type.Number(), capacity: Type.Number() }),
          Type.Null(),
        ],
        { description: "What all spaces of the cohort use of what they lend each other" },
      ),
      heldBy: Type.Array(Type.Object({ id: Type.String(), holder: Type.String() }), {
        description: "The leases of the space that it limits, oldest first; at most twenty",
      }),
    }),
  ),
});
export type Space = Static<typeof Space>;

/** The space of a waiting request, and how many others go before it. */
export const RequestSpace = Type.Object({
  ...Space.properties,
  spacesAhead: Type.Integer({
    description:
      "Spaces that wait for the same pools and go first within a priority: those with a lower share, and starved ones",
  }),
  starvedAhead: Type.Optional(
    Type.Integer({
      description:
        "How many of them are starved: they got nothing of a pool for its patience. None of an older server",
    }),
  ),
});
export type RequestSpace = Static<typeof RequestSpace>;
