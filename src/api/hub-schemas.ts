/** Hubs on the wire: where clusters are made. */
import Type, { type Static } from "typebox";
import { type HubState, hubErrorLengthMax, hubStates } from "../core/model/hub.ts";
import { limits } from "./limits.ts";
import { nullable, Timestamp } from "./schemas.ts";

const closed = { additionalProperties: false } as const;
const Reason = Type.String({ maxLength: 1_024, description: "Why, for people to read" });
const By = Type.String({ maxLength: limits.holderLengthMax, description: "Who does it" });

const HubStateName = Type.Unsafe<HubState>({ type: "string", enum: [...hubStates] });
const ShownState = Type.Unsafe<HubState | "unreachable">({
  type: "string",
  enum: [...hubStates, "unreachable"],
});
const Text = Type.String({ maxLength: 253 });

export const Hub = Type.Object({
  name: Type.String(),
  state: {
    ...ShownState,
    description: "unreachable: probes fail, and its clusters are frozen until they succeed again",
  },
  setState: { ...HubStateName, description: "What the configuration and operators say" },
  set: {
    ...nullable(Type.Object({ by: Type.String(), why: Type.String(), at: Timestamp })),
    description: "The operator who has cordoned or drained it; null: nobody",
  },
  labels: Type.Record(Type.String(), Type.String()),
  limit: { ...nullable(Type.Integer()), description: "Clusters that it may have; null: no limit" },
  clusters: Type.Object({
    total: Type.Integer({ description: "All that count against the limit" }),
    lent: Type.Integer(),
    stock: Type.Integer({ description: "Free or hibernated" }),
    inFlight: Type.Integer({
      description: "All others: being created, woken, stopped or destroyed, or about to be",
    }),
    states: Type.Record(Type.String(), Type.Integer(), {
      description: "How many are in each state; together they are the total",
    }),
  }),
  left: {
    ...nullable(Type.Integer()),
    description: "How many more may be made on it now: 0 unless it is active; null: no limit",
  },
  failures: Type.Object({
    recent: Type.Integer({ description: "Failed creations among the last ones" }),
    of: Type.Integer({ description: "How many creations that are, at most 20" }),
  }),
  outage: {
    ...nullable(Type.Object({ since: Timestamp, error: Type.String() })),
    description: "Why it cannot be reached, as the last probe said",
  },
  isProbed: Type.Boolean({ description: "Whether a probe has ever answered" }),
  kinds: Type.Array(Type.String(), { description: "What it serves of what templates need" }),
  missingKinds: Type.Array(Type.String(), { description: "What templates need and it lacks" }),
  versions: Type.Array(Type.String(), { description: "What it can make; empty: it does not say" }),
  ready: Type.Record(Type.String(), Type.Integer(), {
    description: "Clusters that its back end has ready, by template",
  }),
  pools: Type.Array(Type.String(), { description: "Pools that may use it" }),
  isRetired: Type.Boolean({ description: "It is no longer in the configuration" }),
});
export type Hub = Static<typeof Hub>;

export const HubStateBody = Type.Object(
  { state: HubStateName, by: Type.Optional(By), reason: Type.Optional(Reason) },
  closed,
);
export type HubStateBody = Static<typeof HubStateBody>;

/** What a worker's probe has found. */
export const ProbeBody = Type.Object(
  {
    error: Type.Optional(Type.String({ maxLength: hubErrorLengthMax })),
    kinds: Type.Optional(Type.Array(Text, { maxItems: 100 })),
    versions: Type.Optional(Type.Array(Text, { maxItems: 1_000 })),
    ready: Type.Optional(Type.Record(Text, Type.Integer({ minimum: 0 }), { maxProperties: 1_000 })),
  },
  closed,
);
export type ProbeBody = Static<typeof ProbeBody>;

const found = {
  kind: Text,
  namespace: Text,
  name: Text,
  createdAt: Type.String({ maxLength: 100 }),
  owner: nullable(Type.String({ maxLength: 1_000 })),
  state: Text,
  instance: { ...nullable(Text), description: "The instance, if Berth has made it" },
};

export const HubClustersBody = Type.Object(
  { items: Type.Array(Type.Object(found, closed), { maxItems: 5_000 }) },
  closed,
);
export type HubClustersBody = Static<typeof HubClustersBody>;

/** A cluster on a hub, whoever has made it. */
export const HubCluster = Type.Object({
  ...found,
  ageSeconds: nullable(Type.Number()),
  cluster: {
    ...nullable(Type.String()),
    description: "What Berth calls it; null: it does not know it",
  },
  lease: {
    ...nullable(Type.Object({ id: Type.String(), holder: Type.String() })),
    description: "The lease behind it; null: nobody holds it through Berth",
  },
});
export type HubCluster = Static<typeof HubCluster>;

export const HubClusterList = Type.Object({
  items: Type.Array(HubCluster),
  foundAt: { ...nullable(Timestamp), description: "When a worker last looked; null: never" },
});
export type HubClusterList = Static<typeof HubClusterList>;
