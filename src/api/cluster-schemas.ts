/** Clusters that Berth makes: templates, clusters, access, credentials and costs on the wire. */
import Type, { type Static } from "typebox";
import { limits } from "./limits.ts";
import { Duration, nullable, OperatorText, Timestamp } from "./schemas.ts";

const closed = { additionalProperties: false } as const;
const Reason = Type.String({ maxLength: 1_024, description: "Why, for people to read" });
const By = Type.String({ maxLength: limits.holderLengthMax, description: "Who does it" });

const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const Values = Type.Record(Type.String(), Value);

export const Template = Type.Object({
  name: Type.String(),
  driver: Type.String({ description: "What makes its clusters" }),
  revision: Type.String({
    description: "Changes with the template and with everything that it refers to",
  }),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    description: "What a request may set: a JSON Schema for each name",
  }),
  pinned: Type.Array(Type.String(), {
    description: "Names that the template has set. Their values are not shown",
  }),
  ownCredentials: {
    ...nullable(Type.String()),
    description: "The credentials that a request's space must have stored; null: none",
  },
  cost: Type.Number({ description: "Per hour, charged until a cluster is destroyed" }),
  hibernates: Type.Boolean(),
  limits: Type.Object(
    { create: Duration, resume: Duration, stop: Duration, destroy: Duration },
    { description: "How long each phase may take" },
  ),
  pools: Type.Array(Type.String(), { description: "The pools that lend its clusters" }),
  unusable: {
    ...nullable(Type.String()),
    description: "Why a provisioner can make no cluster from it now; null: none has said so",
  },
});
export type Template = Static<typeof Template>;

const PhaseTime = Type.Object({
  since: Timestamp,
  seconds: Type.Number({ description: "So far" }),
  usualSeconds: {
    ...nullable(Type.Number()),
    description: "How long recent clusters of the pool took; null while none is known",
  },
  samples: Type.Integer({ description: "How many clusters that is based on" }),
  deadlineAt: { ...nullable(Timestamp), description: "The end of the phase's time limit" },
});

export const Cluster = Type.Object({
  name: Type.String(),
  pool: Type.String(),
  instance: Type.String({ description: "Never used twice; names outside derive from it" }),
  template: Type.String(),
  revision: Type.String(),
  parameters: Values,
  hub: nullable(Type.String()),
  state: Type.String(),
  wanted: Type.String({ description: "What the plan wants: ready, hibernated or destroyed" }),
  message: Type.String({ description: "What its driver says, or why it is broken" }),
  progress: { ...nullable(Type.Number()), description: "Of the present phase, from 0 to 1" },
  phase: PhaseTime,
  plannedAt: Timestamp,
  ageSeconds: Type.Number(),
  apiUrl: nullable(Type.String()),
  version: nullable(Type.String()),
  price: Type.Number({ description: "Cost per hour" }),
  space: { ...nullable(Type.String()), description: "The space that is charged for it" },
  stuck: Type.Unsafe<string[] | null>({
    type: ["array", "null"],
    items: { type: "string" },
    description: "What blocks its destruction; null unless that has taken longer than its limit",
  }),
  lost: { ...nullable(Type.String()), description: "Why its holder has lost it" },
  hold: nullable(Type.Object({ by: OperatorText, why: OperatorText, until: Timestamp })),
  failures: Type.Integer({ description: "Failed attempts in this phase" }),
  nextTryAt: nullable(Timestamp),
  lease: nullable(Type.Object({ id: Type.String(), holder: Type.String(), since: Timestamp })),
  handle: Type.Optional(
    Type.Unknown({ description: "What its driver needs to find it; only with handles=true" }),
  ),
});
export type Cluster = Static<typeof Cluster>;

/** A cluster outside that is not in the books. */
export const Orphan = Type.Object({
  name: Type.String({ description: "Its name where it runs: in the cloud, or on the hub" }),
  instance: Type.String(),
  template: Type.String({ description: "Whose driver has found it" }),
  space: {
    ...nullable(Type.String()),
    description: "Whose credentials it was found with; null: the template's",
  },
  createdAt: Type.String({ description: "As its driver says" }),
  seenAt: { ...Timestamp, description: "When it was first found" },
  seenSeconds: Type.Number({ description: "For how long it has been known" }),
});
export type Orphan = Static<typeof Orphan>;

/** All clusters that a driver lists. */
export const FoundClusters = Type.Object(
  {
    template: Type.String({ minLength: 1, maxLength: limits.nameLengthMax }),
    credentials: nullable(Type.String({ minLength: 1, maxLength: 512 })),
    hub: Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameLengthMax })),
    found: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 253 }),
          instance: Type.String({ minLength: 1, maxLength: 253 }),
          createdAt: Type.String({ maxLength: 100 }),
        },
        closed,
      ),
      { maxItems: 100_000 },
    ),
  },
  closed,
);
export type FoundBody = Static<typeof FoundClusters>;

const nullableCount = nullable(Type.Integer());
const Usual = {
  ...nullable(Type.Number()),
  description: "Seconds that recent clusters of the pool took; null while none is known",
};

/** What a pool of clusters keeps, and what it does now and next. */
export const ClusterPlan = Type.Object({
  pool: Type.String(),
  template: nullable(Type.String()),
  size: Type.Integer({ description: "Clusters that nobody holds, kept in stock" }),
  running: Type.Integer({ description: "Of these, how many are awake" }),
  auto: Type.Boolean({ description: "running follows the recent demand" }),
  max: nullableCount,
  concurrent: nullableCount,
  demand: Type.Integer({ description: "Clusters that waiting requests need" }),
  stale: Type.Integer({ description: "Made from an older revision of the template" }),
  usualSeconds: Type.Object({
    creating: Usual,
    stopping: Usual,
    resuming: Usual,
    destroying: Usual,
  }),
  underWay: Type.Array(Type.String(), { description: "What happens now, in words" }),
  nextSteps: Type.Array(Type.String(), {
    description: "What comes as soon as it can, and what it waits for, in words",
  }),
});
export type ClusterPlan = Static<typeof ClusterPlan>;

export const ClusterLogs = Type.Object({
  name: Type.String(),
  entries: Type.Array(
    Type.Object({
      at: Timestamp,
      instance: Type.String(),
      why: Type.String({
        description: "When it was collected: the failure, or an operator's wish",
      }),
      text: Type.String({ description: "Known secrets are masked" }),
    }),
    { description: "The latest first" },
  ),
});
export type ClusterLogs = Static<typeof ClusterLogs>;

export const HoldBody = Type.Object(
  {
    for: { ...Duration, description: "For how long; then it is destroyed" },
    by: Type.Optional(By),
    reason: Type.Optional(Reason),
  },
  closed,
);
export type HoldBody = Static<typeof HoldBody>;

export const OperatorBody = Type.Optional(
  nullable(Type.Object({ by: Type.Optional(By), reason: Type.Optional(Reason) }, closed)),
);

export const AdoptBody = Type.Object(
  {
    pool: Type.String({ minLength: 1, maxLength: limits.nameLengthMax }),
    instance: Type.String({ minLength: 1, maxLength: limits.nameLengthMax }),
    handle: Type.Optional(
      Type.Unknown({ description: "What its driver needs to find it; as its create returned it" }),
    ),
    by: Type.Optional(By),
    reason: Type.Optional(Reason),
  },
  closed,
);
export type AdoptBody = Static<typeof AdoptBody>;

/** Only for the holder. Every value is a secret. */
export const ClusterAccess = Type.Object({
  claim: Type.String(),
  resource: Type.String(),
  fence: Type.Integer({ description: "Of the claim; a replaced cluster has a larger one" }),
  kubeconfig: Type.String(),
  username: nullable(Type.String()),
  password: nullable(Type.String()),
  apiUrl: nullable(Type.String()),
  version: nullable(Type.String()),
  expiresAt: {
    ...nullable(Timestamp),
    description: "Read the access again before then; null: it works until the release",
  },
});
export type ClusterAccess = Static<typeof ClusterAccess>;

export const AccessBody = Type.Object(
  {
    kubeconfig: Type.String({ minLength: 1, maxLength: 256 * 1_024 }),
    username: Type.Optional(Type.String({ maxLength: 1_024 })),
    password: Type.Optional(Type.String({ maxLength: 4_096 })),
    expiresAt: Type.Optional(Timestamp),
  },
  closed,
);
export type AccessBody = Static<typeof AccessBody>;

/** What the worker that holds a cluster has found out about it. */
export const ReportBody = Type.Object(
  {
    handle: Type.Optional(
      Type.Unknown({ description: "What its driver needs to find it; any JSON" }),
    ),
    message: Type.Optional(Type.String({ maxLength: limits.noteLengthMax })),
    progress: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
    apiUrl: Type.Optional(Type.String({ maxLength: 2_048 })),
    version: Type.Optional(Type.String({ maxLength: 128 })),
    stuck: Type.Optional(Type.Array(Type.String({ maxLength: 1_024 }), { maxItems: 100 })),
  },
  closed,
);
export type ReportBody = Static<typeof ReportBody>;

export const Reported = Type.Object({
  wanted: Type.String({
    description: "What is wanted of the cluster: ready, hibernated, destroyed",
  }),
});
export type Reported = Static<typeof Reported>;

export const LostBody = Type.Object(
  {
    instance: Type.String({ minLength: 1, maxLength: limits.nameLengthMax }),
    why: Type.String({ minLength: 1, maxLength: 1_024 }),
  },
  closed,
);
export type LostBody = Static<typeof LostBody>;

export const LogBody = Type.Object(
  {
    why: Type.String({ minLength: 1, maxLength: 1_024 }),
    text: Type.String({ maxLength: 512 * 1_024 }),
  },
  closed,
);
export type LogBody = Static<typeof LogBody>;

/** Access that a driver makes for one lease, when the cluster is lent. */
export const LentAccessBody = Type.Object(
  {
    ...AccessBody.properties,
    instance: Type.String({ minLength: 1, maxLength: limits.nameLengthMax }),
    fence: Type.Integer({ description: "Of the claim that it is for" }),
    lastsSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000_000,
        description:
          "How long it lasts from now. Counts instead of `expiresAt`, which has another clock",
      }),
    ),
  },
  closed,
);
export type LentAccessBody = Static<typeof LentAccessBody>;

/** The values of a space's credentials, for the worker that makes or destroys its cluster. */
export const OwnCredentials = Type.Object({
  values: Type.Record(Type.String(), Type.String()),
});
export type OwnCredentials = Static<typeof OwnCredentials>;

/** The same of all spaces, for the worker that looks for clusters that nobody knows of. */
export const TemplateCredentials = Type.Object({
  items: Type.Array(
    Type.Object({
      reference: Type.String({ description: "As the clusters have it in their parameters" }),
      values: Type.Record(Type.String(), Type.String()),
    }),
  ),
});
export type TemplateCredentials = Static<typeof TemplateCredentials>;

/** Credentials that a space wants to store, for the worker that tries them out. */
export const CheckToDo = Type.Object({
  id: Type.String(),
  template: Type.String(),
  values: Type.Record(Type.String(), Type.String()),
});
export type CheckToDo = Static<typeof CheckToDo>;

export const CheckBody = Type.Object(
  {
    verdict: Type.Union([Type.Literal("valid"), Type.Literal("refused"), Type.Literal("unknown")]),
    why: Type.String({ maxLength: 1_024, description: "In the words of the driver" }),
  },
  closed,
);
export type CheckBody = Static<typeof CheckBody>;

/** What a provisioner lacks for its templates. */
export const TemplateChecksBody = Type.Object(
  {
    provisioner: Type.String({
      ...{ minLength: 1, maxLength: limits.holderLengthMax },
      description: "Each process has a name of its own",
    }),
    unusable: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: limits.nameLengthMax }),
          why: Type.String({ maxLength: 1_024, description: "What is missing, for operators" }),
        },
        closed,
      ),
      { maxItems: 1_000, description: "All templates that it cannot use now" },
    ),
  },
  closed,
);
export type TemplateChecksBody = Static<typeof TemplateChecksBody>;
/** A template that a provisioner cannot use now. */
export type UnusableTemplate = TemplateChecksBody["unusable"][number];

/** A variable of the provisioner's environment while it makes a cluster of this space. */
const VariableName = Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$" });

export const CredentialsBody = Type.Object(
  {
    values: Type.Record(VariableName, Type.String({ minLength: 1, maxLength: 64 * 1_024 }), {
      minProperties: 1,
      maxProperties: 64,
      ...closed,
    }),
  },
  closed,
);
export type CredentialsBody = Static<typeof CredentialsBody>;

export const Credentials = Type.Object({
  name: Type.String(),
  space: nullable(Type.String()),
  version: Type.Integer({ description: "Counts up with each new value" }),
  keys: Type.Array(Type.String(), { description: "Names of the variables; never their values" }),
  storedAt: Timestamp,
  clusters: Type.Array(Type.String(), {
    description: "Clusters that were made with any version of it and still exist",
  }),
});
export type Credentials = Static<typeof Credentials>;

export const Cost = Type.Object({
  space: { ...nullable(Type.String()), description: "Null: stock that nobody held" },
  template: Type.String(),
  pool: Type.String(),
  clusters: Type.Integer({ description: "How many there were in the time" }),
  clusterHours: Type.Number(),
  costHours: Type.Number({ description: "Hours times the price at that moment" }),
});
export type Cost = Static<typeof Cost>;

export const Costs = Type.Object({
  since: Timestamp,
  until: Timestamp,
  items: Type.Array(Cost),
});
export type Costs = Static<typeof Costs>;
