/** The answer of `GET /v1/attention`: what needs a person. */
import Type, { type Static } from "typebox";
import { nullable, Timestamp } from "./schemas.ts";

const closed = { additionalProperties: false } as const;

export const Subject = Type.Object(
  {
    kind: Type.String({
      description:
        "pool, resource, cluster, template, orphan, space, token, replica, hub or server",
    }),
    name: Type.String(),
    since: nullable(Timestamp),
    text: Type.String({ description: "What is wrong with this one" }),
  },
  closed,
);

export const AttentionItem = Type.Object(
  {
    code: Type.String({ description: "A stable name of this kind of trouble" }),
    severity: Type.String({
      description:
        "error: something does not work; warning: somebody should look; notice: it can wait",
    }),
    summary: Type.String({ examples: ["2 resources are quarantined"] }),
    advice: Type.String({ description: "What to do" }),
    command: Type.String({ description: "A command that shows more; empty: there is none" }),
    since: { ...nullable(Timestamp), description: "Of the oldest; null: nobody knows" },
    count: Type.Integer(),
    about: Type.Array(Subject, { description: "The oldest first; at most twenty" }),
  },
  closed,
);

export const Attention = Type.Object(
  {
    items: Type.Array(AttentionItem, { description: "The most severe first; empty: all is well" }),
    pools: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          codes: Type.Array(Type.String(), { description: "The kinds of its trouble" }),
        },
        closed,
      ),
      { description: "All pools with trouble, by name, also those beyond the twenty of an item" },
    ),
  },
  closed,
);

export type Subject = Static<typeof Subject>;
export type AttentionItem = Static<typeof AttentionItem>;
export type Attention = Static<typeof Attention>;
