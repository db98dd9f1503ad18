import Type, { type Static } from "typebox";
import { Pool, Timestamp } from "./schemas.ts";

const name = { name: Type.String() };

export const PoolChanges = Type.Object({
  cursor: Type.String({ description: "Send it as `after` to get later changes" }),
  whole: Type.Boolean({
    description: "All pools with all fields; pools that are not in the list are gone",
  }),
  pools: Type.Array(
    Type.Object({
      ...Type.Partial(Type.Omit(Pool, ["name", "oldestWaitSeconds"])).properties,
      ...name,
      oldestQueuedAt: Type.Optional({
        ...Type.Union([Timestamp, Type.Null()]),
        description: "Since when its oldest request waits",
      }),
    }),
    { description: "Only pools that have changed, each with the fields that have changed" },
  ),
});

export type PoolChanges = Static<typeof PoolChanges>;
