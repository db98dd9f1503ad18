/** The answer of `GET /v1/replicas`. */
import Type, { type Static } from "typebox";
import { nullable, Timestamp } from "./schemas.ts";

const closed = { additionalProperties: false } as const;

export const ReplicaState = Type.Object(
  {
    id: Type.String(),
    address: nullable(Type.String({ description: "Where other servers reach it" })),
    version: Type.String(),
    leads: Type.Boolean(),
    startedAt: Timestamp,
    lastEvent: Type.Integer({ description: "The number of the last event that it has applied" }),
    behindEvents: Type.Integer({
      description: "How many events it had not applied when it reported",
    }),
    silentSeconds: Type.Number({
      description: "How long ago it reported; it does so every second",
    }),
  },
  closed,
);

export const Replicas = Type.Object(
  {
    self: nullable(
      Type.String({ description: "The server that answers; null: it is the only one" }),
    ),
    leader: nullable(Type.String({ description: "The server that leads; null: none at present" })),
    leadsSince: nullable(Timestamp),
    epoch: nullable(Type.Integer({ description: "Grows with every change of the leader" })),
    notified: Type.Boolean({ description: "False: this server hears of commits only by polling" }),
    staleSeconds: Type.Number({
      description: "For how long the server that answers may have missed something",
    }),
    replicas: Type.Array(ReplicaState),
  },
  closed,
);

export type ReplicaState = Static<typeof ReplicaState>;
export type Replicas = Static<typeof Replicas>;
