/** The audit, on the wire. */
import Type, { type Static } from "typebox";
import { nullable, Timestamp } from "./schemas.ts";

const text = (description: string) => Type.Optional(Type.String({ description }));

export const AuditEntry = Type.Object(
  {
    number: Type.Integer({ description: "Without gaps; 1 is the first entry of a chain" }),
    at: Timestamp,
    action: Type.String({ description: "The type of the event, or call-refused and the like" }),
    event: Type.Optional(Type.Integer({ description: "The number of the event in the journal" })),
    way: Type.String({
      description:
        "http, cli, page, boskos, capacity, lease-proxy, config, worker, object, import, clock; " +
        "unknown: an older server has not recorded it",
    }),
    by: text("The name that the caller has proved; absent: it has proved none"),
    as: text("A name that the caller has only given"),
    space: text("Of the caller, or of the lease"),
    leaseSpace: text("Of the lease, if it is not that of the caller"),
    reason: text("Why, as the caller has written it"),
    lease: text("The id of the request or lease"),
    holder: text("Of the lease"),
    pools: Type.Optional(Type.Array(Type.String())),
    resources: Type.Optional(Type.Array(Type.String())),
    detail: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    previous: Type.String({ description: "The hash of the entry before" }),
    hash: Type.String({ description: "SHA-256 of `previous`, a line feed and the entry" }),
  },
  { description: "One change, or one attempt that was refused" },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditAnchor = Type.Object(
  { number: Type.Integer(), hash: Type.String() },
  { description: "The last entry. Note it elsewhere, and compare later" },
);

export const AuditPage = Type.Object({
  items: Type.Array(AuditEntry),
  next: nullable(Type.String()),
  anchor: nullable(AuditAnchor),
});
export type AuditPage = Static<typeof AuditPage>;
