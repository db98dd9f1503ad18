import Type from "typebox";
import { Timestamp } from "./schemas.ts";

/** As in the feed, and with the holder. The other fields depend on the type. */
export const PastEvent = Type.Object(
  {
    seq: Type.Integer({ description: "Its number" }),
    at: Timestamp,
    type: Type.String(),
    holder: Type.Optional(Type.String({ description: "Of the request or lease in `id`" })),
  },
  { additionalProperties: true },
);
