/** What has happened, on the wire, and what would have. */
import Type, { type Static } from "typebox";
import { limits } from "./limits.ts";
import { Duration, nullable, Timestamp } from "./schemas.ts";

export const HistoryEntry = Type.Object(
  {
    id: Type.String({ description: "Of the request and its lease; its entries share it" }),
    claim: nullable(Type.String()),
    holder: Type.String(),
    space: Type.String(),
    purpose: Type.Union([Type.Literal("use"), Type.Literal("clean"), Type.Literal("provision")], {
      description:
        "clean: a cleaner held it; provision: a worker made or destroyed the cluster. No statistic " +
        "counts these as use",
    }),
    pool: Type.String(),
    resource: { ...nullable(Type.String()), description: "null: nothing was granted" },
    count: Type.Integer(),
    amount: {
      ...nullable(Type.Record(Type.String(), Type.Integer())),
      description: "Of a claim on a shared resource, by dimension; null: an exclusive resource",
    },
    priority: Type.Integer(),
    askedAt: Timestamp,
    grantedAt: nullable(Timestamp),
    waitedFor: {
      ...nullable(Type.String()),
      description:
        "What it waited for last, by the code of the reason; null: it did not wait, or was " +
        "not granted, or nobody can tell",
    },
    endedAt: Timestamp,
    how: Type.String({
      description:
        "released, expired, lifetime, revoked, hold, cancelled, removed (from the queue, by an operator), …; " +
        "of a cleaner also cleaned, failed, stopped",
    }),
    waitSeconds: Type.Number({ description: "Until the grant, or until it left the queue" }),
    holdSeconds: nullable(Type.Number()),
  },
  { description: "One claim that has ended, or one pool that was asked for and never granted" },
);

const Spread = Type.Object({
  p50: Type.Number(),
  p90: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
  mean: Type.Number(),
});

const part = {
  asked: Type.Integer({ description: "Claims, as everything here" }),
  granted: Type.Integer(),
  ended: Type.Integer(),
  expired: Type.Integer({ description: "No heartbeat came, or its lifetime was over" }),
  left: Type.Integer({ description: "Left the queue ungranted" }),
  waitedSeconds: Type.Number({
    description:
      "All waiting in this time together, also of those that have left the queue or still wait",
  }),
  waitSeconds: { ...nullable(Spread), description: "Of those granted in this time" },
  holdSeconds: { ...nullable(Spread), description: "Of those that ended in this time" },
  endedPerHour: Type.Number(),
  utilisation: {
    ...nullable(Type.Number()),
    description:
      "Share of all resources' time in which they were held, from 0 to 1. Of a shared pool: the " +
      "share of its capacity that was lent, in the dimension that was used most",
  },
  dimensions: Type.Array(Type.Object({ name: Type.String(), utilisation: Type.Number() }), {
    description: "Of shared pools: the share of each dimension that was lent",
  }),
  upkeep: Type.Object(
    {
      cleaned: Type.Integer({ description: "Resources that were cleaned" }),
      failed: Type.Integer({ description: "Cleanings that failed, or whose cleaner was lost" }),
      cleaningSeconds: { ...nullable(Spread), description: "Of those that did not fail" },
    },
    { description: "Cleaning. It is no request, wait, hold or use in the other figures" },
  ),
};

export const StatsPart = Type.Object(part);

export const Stats = Type.Object({
  pool: { ...nullable(Type.String()), description: "null: all pools together" },
  from: Timestamp,
  to: Timestamp,
  stepSeconds: Type.Number(),
  total: StatsPart,
  steps: Type.Array(Type.Object({ at: Timestamp, ...part })),
  outages: Type.Array(
    Type.Object({
      what: Type.Union([Type.Literal("server"), Type.Literal("journal"), Type.Literal("hub")]),
      name: { ...nullable(Type.String()), description: "Of the hub" },
      from: Timestamp,
      to: { ...nullable(Timestamp), description: "null: it goes on" },
    }),
    {
      description:
        "When the server did not run, its journal could not be written, or, for those who see hubs and for pools of " +
        "clusters, a hub did not answer",
    },
  ),
});

export const PoolStats = Type.Object({
  from: Timestamp,
  to: Timestamp,
  pools: Type.Array(Type.Object({ pool: Type.String(), ...part }), {
    description:
      "Each pool that had a resource or was asked for, the one with the longest waiting in all first",
  }),
});

const Accuracy = Type.Object({
  compared: Type.Integer({ description: "Requests whose first estimate has met its grant" }),
  withinP50: Type.Integer({ description: "Granted by their P50; about half should be" }),
  withinP90: Type.Integer({ description: "Granted by their P90; about nine in ten should be" }),
  meanErrorSeconds: Type.Number({ description: "How far the P50 was off, whichever way" }),
});

const Accuracies = {
  ...Accuracy.properties,
  latest: Type.Optional({
    ...Accuracy,
    description:
      "Of the latest requests alone: up to 200 of a pool, up to 2,000 of all. The other numbers " +
      "count since the server was started",
  }),
};

export const EstimateAccuracy = Type.Object({
  estimated: Type.Integer({ description: "Waiters that have an estimate" }),
  waiting: Type.Integer(),
  total: Type.Object(Accuracies),
  pools: Type.Array(Type.Object({ pool: Type.String(), ...Accuracies })),
});

export const SimulateBody = Type.Object(
  {
    last: Type.Optional({ ...Duration, description: "How much of the past; 7d unless given" }),
    set: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.nameLengthMax + 512 }), {
        maxItems: limits.settingsMax,
        description:
          "POOL.KEY=VALUE, with the keys and values of the configuration file, or space:NAME.weight=VALUE",
        examples: [["aws-account.count=12"]],
      }),
    ),
  },
  { additionalProperties: false },
);

const seconds = nullable(Type.Number());

export const ReplayedPart = Type.Object({
  ...part,
  starts: Type.Optional(
    Type.Object(
      {
        claims: Type.Integer({
          description: "Asked for in this time, or waiting at its beginning",
        }),
        started: Type.Integer(),
        withinSeconds: Type.Object(
          { p50: seconds, p90: seconds, p99: seconds },
          { description: "Of all claims; null: so many did not start in this time" },
        ),
      },
      {
        description:
          "How many of all claims started, and within which wait. waitSeconds has only those that did. " +
          "None of an older server",
      },
    ),
  ),
});

const Comparison = Type.Object({
  pool: nullable(Type.String()),
  recorded: ReplayedPart,
  simulated: ReplayedPart,
});

export const Simulation = Type.Object({
  from: Timestamp,
  to: Timestamp,
  requests: Type.Integer({ description: "Replayed" }),
  refused: Type.Integer({ description: "Not replayed: they could never be granted" }),
  total: { ...Comparison, description: "Of all the pools below together" },
  pools: Type.Array(Comparison, {
    description:
      "Where the settings can be felt: others are as they were. Without settings, all. A pool that is " +
      "only a limit has the claims of the pools below it",
  }),
  unknowns: Type.Array(Type.String(), { description: "What the model cannot know" }),
});

export const CompareBody = Type.Object(
  {
    pool: Type.String({
      ...{ minLength: 1, maxLength: limits.nameLengthMax },
      description: "Replays this pool, and those that a change of it can affect",
    }),
    last: Type.Optional({ ...Duration, description: "How much of the past; 7d unless given" }),
    to: Type.Optional({ ...Timestamp, description: "Where that past ends; now unless given" }),
    space: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: limits.nameLengthMax },
        description: "Reports only the requests of this space. All are replayed",
      }),
    ),
    variants: Type.Array(
      Type.Array(Type.String({ maxLength: limits.nameLengthMax + 512 }), {
        maxItems: limits.settingsMax,
      }),
      {
        ...{ minItems: 1, maxItems: limits.variantsMax },
        description:
          "Settings as in /v1/simulate; `space:NAME.weight=2` is another weight of a space",
        examples: [[[], ["aws-account.count=12"], ["aws-account.count=16"]]],
      },
    ),
  },
  { additionalProperties: false },
);

export const SimulatedVariants = Type.Object({
  variants: Type.Array(Type.Object({ set: Type.Array(Type.String()), simulation: Simulation }), {
    description: "In the order of the question",
  }),
});

export const SimulationProgress = Type.Object({
  running: Type.Boolean(),
  done: { ...nullable(Type.Number()), description: "From 0 to 1; null: none runs" },
});

export type HistoryEntry = Static<typeof HistoryEntry>;
export type StatsPart = Static<typeof StatsPart>;
export type ReplayedPart = Static<typeof ReplayedPart>;
export type Stats = Static<typeof Stats>;
export type PoolStats = Static<typeof PoolStats>;
export type EstimateAccuracy = Static<typeof EstimateAccuracy>;
export type SimulateBody = Static<typeof SimulateBody>;
export type Simulation = Static<typeof Simulation>;
export type CompareBody = Static<typeof CompareBody>;
export type SimulatedVariants = Static<typeof SimulatedVariants>;
export type SimulationProgress = Static<typeof SimulationProgress>;
