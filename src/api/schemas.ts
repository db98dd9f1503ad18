/** The wire, said once: these schemas validate, document (OpenAPI) and type both ends. */
import Type, { type Static } from "typebox";
import { rateMax, rateMin } from "../core/model/field-kinds.ts";
import { durationPattern } from "../core/model/time.ts";
import { limits } from "./limits.ts";
import {
  GroupBody,
  placeFields,
  placingFields,
  RoomExplanation,
  roomFields,
  shareFields,
} from "./placement-schemas.ts";
import { Policy } from "./policy-schema.ts";
import { RequestSpace } from "./space-schemas.ts";

const closed = { additionalProperties: false } as const;

export const Duration = Type.String({
  pattern: durationPattern,
  maxLength: 32,
  description: "A duration such as 90s, 20m, 1h30m or 2d",
  examples: ["20m"],
});
export const Timestamp = Type.String({ format: "date-time", description: "RFC 3339 in UTC" });
const Name = Type.String({ minLength: 1, maxLength: limits.nameLengthMax });
const Holder = Type.String({ minLength: 1, maxLength: limits.holderLengthMax });
export const StateName = Type.String({
  pattern: "^[A-Za-z][A-Za-z0-9_.-]*$",
  maxLength: limits.stateLengthMax,
});
/** The length stands in the pattern: a record keeps nothing else of what its keys must be. */
const EntryKey = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$" });
const Labels = Type.Record(EntryKey, Type.String({ maxLength: limits.labelValueLengthMax }), {
  maxProperties: limits.labelsMax,
  ...closed,
});
/** As `type: [T, "null"]`: serialisers have a quick way for it, and none for `anyOf`. */
export const nullable = <T extends Type.TSchema & { type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, "null"] });

const RequestIdText = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._:/-]*$",
  maxLength: limits.requestIdLengthMax,
});

/** A number, or the name of a class. */
const PriorityText = Type.Union([
  Type.Integer({ minimum: -limits.priorityMax, maximum: limits.priorityMax }),
  Type.String({ pattern: "^[A-Za-z][A-Za-z0-9._-]*$", maxLength: 63 }),
]);

/** Checked against the schema of the pool's template. */
const Parameters = Type.Record(
  Type.String({ pattern: "^[A-Za-z][A-Za-z0-9._/-]{0,62}$" }),
  Type.Union([Type.String({ maxLength: 1_024 }), Type.Number(), Type.Boolean()]),
  {
    maxProperties: 64,
    ...closed,
    description: "Only for a pool of clusters: how to make it. GET /v1/templates lists them",
  },
);

export const AskBody = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          pool: Type.Optional({ ...Name, description: "Of this pool; or give anyOf" }),
          anyOf: Type.Optional(
            Type.Array(Name, {
              minItems: 1,
              maxItems: limits.anyOfMax,
              description: "Of the first of these pools that can serve, in place of pool",
            }),
          ),
          count: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: limits.countPerItemMax,
              description: "1 unless given",
            }),
          ),
          state: Type.Optional({
            ...StateName,
            description: "Those in this state; free unless given. Who cleans asks for dirty ones",
          }),
          into: Type.Optional({
            ...StateName,
            description: "What they are in while you hold them; busy unless given",
          }),
          ...placingFields,
          parameters: Type.Optional(Parameters),
          credentials: Type.Optional({
            ...Name,
            description: "Make the cluster with these credentials of your space",
          }),
        },
        closed,
      ),
      {
        minItems: 1,
        maxItems: limits.itemsPerRequestMax,
        description: "All of it is granted at one moment, or none",
      },
    ),
    holder: { ...Holder, description: "Who asks, for people to read: a job, a build, a person" },
    requestId: Type.Optional({
      ...RequestIdText,
      description: [
        "You choose it; repeat it when you retry. One id never gets two leases: after the end it is",
        "remembered for a day, or until 20,000 others have ended, but ten minutes at the least",
      ].join(" "),
    }),
    ttl: Type.Optional({
      ...Duration,
      description:
        "The lease ends after this long without a heartbeat; the pool's ttl unless given",
    }),
    lifetime: Type.Optional({
      ...Duration,
      description: "Max lifetime; the pool may allow less",
    }),
    priority: Type.Optional({
      ...PriorityText,
      description: "Higher goes first; 0 unless given. Or a name from priorities of the server",
    }),
    labels: Type.Optional(Labels),
    group: Type.Optional(GroupBody),
    wait: Type.Optional({
      ...Duration,
      description: "Keep the connection open for this long, until it is granted",
    }),
    nowOnly: Type.Optional(
      Type.Boolean({ description: "Now, behind all who wait, or not at all: 409 none_free" }),
    ),
  },
  closed,
);

export const ResumeBody = Type.Object(
  { requestId: { ...RequestIdText, description: "The one that the request was made with" } },
  closed,
);

export const BumpBody = Type.Object(
  {
    priority: { ...PriorityText, description: "The new priority, or its name" },
    by: Type.Optional(Holder),
    reason: Type.String({ minLength: 1, maxLength: 1_024, description: "Why, for people to read" }),
  },
  closed,
);

const Throttled = Type.Boolean({
  description: "true: the provider throttled you; false: all went well",
});
const Evidence = Type.String({
  maxLength: limits.evidenceLengthMax,
  description: "What the provider said, for people to judge",
});

export const SignalBody = Type.Object(
  {
    throttled: Throttled,
    evidence: Type.Optional(Evidence),
    pool: Type.Optional({ ...Name, description: "Of all that the lease has, unless given" }),
  },
  closed,
);

export const RefreshBody = Type.Object(
  {
    requestId: Type.Optional({ ...RequestIdText, description: "As when asking; a new one" }),
    pool: Type.Optional({
      ...Name,
      description: "Only what the lease has of this pool; the rest of it goes on",
    }),
    wait: Type.Optional(Duration),
  },
  closed,
);

export const PinBody = Type.Object(
  {
    rate: Type.Number({
      minimum: rateMin,
      maximum: rateMax,
      description: "Starts per minute",
    }),
    by: Type.Optional(Holder),
    reason: Type.Optional(Type.String({ maxLength: 1_024 })),
  },
  closed,
);

export const ReleaseBody = Type.Optional(
  nullable(
    Type.Object(
      {
        failure: Type.Optional(
          Type.String({
            maxLength: limits.noteLengthMax,
            description: "It was to be cleaned, and this went wrong: tried again, or quarantined",
          }),
        ),
        throttled: Type.Optional(Throttled),
        evidence: Type.Optional(Evidence),
      },
      closed,
    ),
  ),
);

const RequestIdShown = {
  ...nullable(Type.String()),
  description: "The one that was sent, told only to the one who asks: it gets the token",
};

export const Claim = Type.Object({
  id: Type.String(),
  pool: Type.String(),
  resource: Type.String(),
  fence: Type.Integer({ description: "Larger than that of every earlier grant" }),
  heldUntil: { ...nullable(Timestamp), description: "When the server gives it back by itself" },
  cluster: Type.Optional(
    Type.Boolean({ description: "True: it is a cluster; its holder reads `…/claims/ID/access`" }),
  ),
  labels: Type.Record(Type.String(), Type.String()),
  userData: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "Only for the holder, who shows the token",
    }),
  ),
  ...shareFields,
});

const TtlShown = {
  ...nullable(Type.String()),
  description: "Null for a holder that is known by name only, as Boskos's clients are",
};

const Notice = Type.Object(
  {
    endsBy: Timestamp,
    reason: Type.String({ description: "Who needs it; jobs of other spaces are not named" }),
  },
  {
    description:
      "The pool takes the lease back for a waiting request: release it by this time. Then it is revoked",
  },
);

export const Lease = Type.Object({
  id: Type.String(),
  requestId: RequestIdShown,
  token: Type.Optional(
    Type.String({ description: "Proof for heartbeat and release; told only to the one who asks" }),
  ),
  holder: Type.String(),
  space: Type.Optional(Type.String({ description: "If the server has authentication" })),
  priority: Type.Integer(),
  labels: Type.Record(Type.String(), Type.String()),
  ttl: TtlShown,
  queuedAt: Timestamp,
  grantedAt: Timestamp,
  lastHeartbeatAt: Type.Optional({
    ...nullable(Timestamp),
    description:
      "Of its holder; null: none yet since the grant, or since this server started. A restart gives " +
      "every lease a full ttl, so `expiresAt` does not tell",
  }),
  expiresAt: {
    ...nullable(Timestamp),
    description: "Unless a heartbeat comes before; null where silence does not end it",
  },
  endsAt: nullable(Timestamp),
  revokedAt: Type.Union([Timestamp, Type.Null()], {
    description:
      "When an operator took the lease back. Its resources are not lent again before its holder " +
      "releases it, or before `expiresAt`",
  }),
  notice: Type.Optional(Notice),
  delivered: Type.Optional(
    Type.Boolean({
      description:
        "False while the holder does not know the lease yet: its request was granted between two " +
        "polls. The lease ends if the holder does not poll in time",
    }),
  ),
  waitedSeconds: Type.Number(),
  claims: Type.Array(Claim),
});

export const Reason = Type.Object({
  code: Type.String(),
  pool: Type.String(),
  message: Type.String(),
});

export const Estimate = Type.Object({
  p50Seconds: Type.Number({ description: "As likely sooner as later" }),
  p90Seconds: Type.Number({ description: "Nine times in ten it is no later" }),
  samples: Type.Integer({ description: "Recorded holds that it is based on" }),
  exact: Type.Boolean({
    description:
      "It follows from cooldowns and paces that do not change, and needs no recorded holds",
  }),
  first: Type.Optional(
    Type.Object(
      { p50At: Timestamp, p90At: Timestamp },
      {
        description:
          "The first estimate of the request that this server made, as times. It is later than estimated once p90At is over; none of an older server",
      },
    ),
  ),
});

export const WaitingRequest = Type.Object({
  id: Type.String(),
  requestId: RequestIdShown,
  token: Type.Optional(Type.String()),
  holder: Type.String(),
  space: Type.Optional(Type.String({ description: "If the server has authentication" })),
  priority: Type.Integer(),
  starved: Type.Optional(
    Type.Boolean({
      description:
        "True if it goes first within its priority: its space got nothing of a pool for the patience of that pool. Otherwise left out",
    }),
  ),
  labels: Type.Record(Type.String(), Type.String()),
  ttl: TtlShown,
  items: Type.Array(
    Type.Object({
      pool: Type.String(),
      anyOf: Type.Optional(
        Type.Array(Type.String(), { description: "Any of these will do, pool among them" }),
      ),
      count: Type.Integer(),
      state: Type.String(),
      amount: shareFields.amount,
      selector: placingFields.selector,
      resource: placingFields.resource,
      parameters: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
      ),
    }),
  ),
  queuedAt: Timestamp,
  waitedSeconds: Type.Number(),
  position: Type.Integer({ description: "1 is the head of the line" }),
  etaSeconds: {
    ...nullable(Type.Number()),
    description: "The estimate's p50Seconds; null while too little is known",
  },
  estimate: {
    ...nullable(Estimate),
    description: "When it will be granted; null while too little is known",
  },
  noEstimate: Type.Optional(
    Type.Union(
      [
        Type.Literal("not_computed", { description: "The server has not computed it yet" }),
        Type.Literal("too_few_holds", { description: "Fewer than 10 holds are recorded" }),
        Type.Literal("admission", {
          description:
            "An admission check of its pool decides, and nobody knows when it finds capacity",
        }),
        Type.Literal("no_end_known", { description: "No end is known of what it waits for" }),
      ],
      { description: "Why there is no estimate. None of an older server" },
    ),
  ),
  reason: Reason,
});

const Limit = Type.Object({
  pool: Type.String(),
  used: Type.Integer({ description: "Held of it and of all pools below it" }),
  limit: Type.Integer(),
});

const Rate = Type.Number({ description: "Starts per minute" });

export const RateChange = Type.Object({
  at: Timestamp,
  rate: { ...nullable(Rate), description: "From then on; null: nothing spaces its grants out" },
  was: nullable(Rate),
  cause: Type.String({ description: "throttled, clean, pinned, unpinned or configured" }),
  lease: nullable(Type.String({ description: "Whose report it was" })),
  by: nullable(Type.String()),
  why: nullable(Type.String({ description: "The evidence of a report, or an operator's reason" })),
  advised: Type.Boolean({ description: "It is what the pool would do; it does not" }),
});

export const RateHistory = Type.Object({ pool: Type.String(), changes: Type.Array(RateChange) });

const NextGrantAt = {
  ...nullable(Timestamp),
  description: "No grant before; null: no gate is closed until a known time",
};
const NextGrantBy = {
  ...nullable(Type.String()),
  description: "The pool whose pace or other gate that is: the pool itself, or one above it",
};

export const OperatorText = Type.String({
  description:
    "Empty for callers who are limited to a space: who did it, and why, is for operators",
});

/** How fast a pool lends, and how much together with the pools that share its limits. */
const Flow = Type.Object({
  everySeconds: { ...nullable(Type.Number()), description: "Between two grants; null: no pace" },
  rate: { ...nullable(Rate), description: "What holders' reports or an operator made of it" },
  advisedRate: { ...nullable(Rate), description: "What it would be in the mode auto" },
  nextGrantAt: NextGrantAt,
  nextGrantBy: NextGrantBy,
  pinned: nullable(Type.Object({ rate: Rate, by: OperatorText, why: OperatorText, at: Timestamp })),
  reports: Type.Object({ throttled: Type.Integer(), ok: Type.Integer() }),
  limits: Type.Array(Limit, { description: "What binds it, its own first, then upwards" }),
});

/** Whether what is free may be lent, where somebody outside has a say in it. */
const Admission = Type.Object({
  by: Type.String({ description: "What checks whether there is capacity" }),
  credits: Type.Integer({ description: "How many more may be lent now" }),
  until: { ...nullable(Timestamp), description: "When the credits are void; null: there are none" },
  why: {
    ...nullable(Type.String()),
    description: "Why none may be lent, in the words of the check; null: it has not refused",
  },
  found: {
    ...nullable(Type.String()),
    description:
      "By the last check: room, none or unknown; null: no check since the server started",
  },
  lookedAt: nullable(Timestamp),
  nextLookAt: {
    ...nullable(Timestamp),
    description:
      "No check before, while a request waits for one; null: no check since the server started",
  },
});

export const Pool = Type.Object({
  name: Type.String(),
  total: Type.Integer(),
  free: Type.Integer(),
  held: Type.Integer({ description: "Held for use, in any state. Cleaning does not count" }),
  states: Type.Record(Type.String(), Type.Integer()),
  waiting: Type.Integer(),
  oldestWaitSeconds: nullable(Type.Number()),
  meanHoldSeconds: {
    ...nullable(Type.Number()),
    description:
      "Of the last few dozen holds of it and of all pools below it, which share its limit and its pace; null: none yet",
  },
  usualWaitSeconds: {
    ...nullable(Type.Number()),
    description:
      "99 of 100 requests of the last week waited no longer; null: fewer than 20 are recorded, or they are not read yet",
  },
  retiring: Type.Boolean({
    description: "Gone from the configuration; lives until its last resource is back",
  }),
  suspended: nullable(
    Type.Object(
      { why: Type.String(), since: Timestamp },
      {
        description:
          "A decision on the pool failed, so nothing of it is lent. Every reload tries it again",
      },
    ),
  ),
  policy: Policy,
  template: Type.Optional(
    Type.String({ description: "The pool makes its resources: clusters of this template" }),
  ),
  limit: Type.Optional(
    Type.Object(
      {
        used: Type.Integer(),
        limit: Type.Integer(),
        waiting: Type.Integer(),
        oldestWaitSeconds: nullable(Type.Number()),
      },
      {
        description:
          "Of a pool without resources of its own: the claims and the waiting requests of the pools " +
          "below it. GET /v1/leases and /v1/requests list them under the name of this pool",
      },
    ),
  ),
  ...placeFields,
  flow: Flow,
  admission: {
    ...nullable(Admission),
    description: "What was said of it outside; null: it is lent without asking",
  },
});

export const Resource = Type.Object({
  name: Type.String(),
  pool: Type.String(),
  state: Type.String(),
  drained: Type.Boolean(),
  drainedBy: Type.Optional(
    Type.Object(
      { by: Type.String(), why: Type.String() },
      { description: "Who has drained it, and why; only for callers who see all spaces" },
    ),
  ),
  retiring: Type.Boolean(),
  note: Type.String({
    description: "While it is drained, empty for callers who do not see all spaces",
  }),
  changedAt: Timestamp,
  restsUntil: nullable(Timestamp),
  dynamic: Type.Boolean({ description: "Made on demand" }),
  cluster: Type.Optional(
    Type.Boolean({ description: "True: it is a cluster; GET /v1/clusters/NAME shows more of it" }),
  ),
  phase: Type.Optional(
    Type.Object(
      {
        since: Timestamp,
        usualSeconds: {
          ...nullable(Type.Number()),
          description: "How long recent clusters of the pool took; null while none is known",
        },
      },
      { description: "Of a cluster that is created, woken, stopped or destroyed now" },
    ),
  ),
  expiresAt: { ...nullable(Timestamp), description: "When it is deleted if nobody wants it" },
  failures: Type.Integer({ description: "How often in a row its cleaning has failed" }),
  labels: Type.Record(Type.String(), Type.String()),
  userDataKeys: Type.Array(Type.String(), { description: "The values are for the holder only" }),
  lease: nullable(
    Type.Object({
      id: Type.String(),
      holder: Type.String(),
      since: Timestamp,
      endsAt: {
        ...nullable(Timestamp),
        description: "When it is taken back, whatever its holder does; null: no such time",
      },
      fence: Type.Integer(),
    }),
  ),
  ...roomFields,
});

const Merge = (valueLengthMax: number, keysMax: number) =>
  Type.Record(EntryKey, nullable(Type.String({ maxLength: valueLengthMax })), {
    maxProperties: keysMax,
    description: "Merged; null removes a key",
    ...closed,
  });

export const ResourcePatch = Type.Object(
  {
    drained: Type.Optional(
      Type.Boolean({ description: "true: not lent again until false; a holder keeps it" }),
    ),
    state: Type.Optional({
      ...StateName,
      description: "Only while nobody holds it: free, quarantined, dirty, …",
    }),
    note: Type.Optional(Type.String({ maxLength: limits.noteLengthMax })),
    labels: Type.Optional(Merge(limits.labelValueLengthMax, limits.labelsMax)),
    userData: Type.Optional(Merge(limits.userDataValueLengthMax, limits.userDataKeysMax)),
    by: Type.Optional(Holder),
    reason: Type.Optional(Type.String({ maxLength: 1_024 })),
  },
  { ...closed, minProperties: 1 },
);

export const Heartbeat = Type.Object({
  id: Type.String(),
  expiresAt: Timestamp,
  endsAt: nullable(Timestamp),
  notice: Type.Optional(Notice),
});

export const Explanation = Type.Object({
  request: WaitingRequest,
  space: Type.Optional(RequestSpace),
  needs: Type.Array(
    Type.Object({
      pool: Type.String(),
      state: Type.String({ description: "Those in this state are wanted" }),
      selects: Type.Optional(
        Type.String({
          description:
            "The selector or the name that the request selects by. All counts, states and holders are then those of the matching resources",
          examples: ["region=eu-west"],
        }),
      ),
      needed: Type.Integer(),
      available: Type.Integer({ description: "Free, and not reserved for a request ahead" }),
      free: Type.Integer(),
      size: Type.Integer(),
      states: Type.Record(Type.String(), Type.Integer()),
      nextAt: NextGrantAt,
      nextBy: NextGrantBy,
      limits: Type.Array(Limit, {
        description: "Its own limit and those of the pools above it, the nearest first",
      }),
      ahead: Type.Integer(),
      aheadOfIt: Type.Array(
        Type.Object({
          id: Type.String(),
          holder: Type.String(),
          count: Type.Integer(),
          keeps: Type.Union([Type.Integer(), Type.Literal("all")], {
            description: "How many free ones it keeps from those behind it",
          }),
        }),
      ),
      heldBy: Type.Array(
        Type.Object({
          id: Type.String(),
          holder: Type.String(),
          resource: Type.String(),
          since: Timestamp,
          backBy: {
            ...nullable(Timestamp),
            description:
              "Its lease ends by then if nothing more is heard of its holder, and a cooldown or lock delay " +
              "follows; null: never",
          },
        }),
      ),
      rooms: Type.Optional(
        Type.Array(RoomExplanation, { description: "Where resources are lent by amount" }),
      ),
    }),
  ),
});

export const Profile = Type.Object({
  name: Type.String(),
  type: Type.String({ description: "The kind of cluster" }),
  pool: Type.String({ description: "One of it is leased for the whole job" }),
  ipPool: Type.Optional(Type.String({ description: "Addresses come from <ipPool>-<region>" })),
  members: Type.Optional(Type.Array(Type.String(), { description: "The profiles of a set" })),
});

export const ConfigStatus = Type.Object({
  file: nullable(Type.String()),
  ok: Type.Boolean({
    description: "false: the file as it is now was refused, an older one is in force",
  }),
  inForceSince: Timestamp,
  checkedAt: Timestamp,
  pools: Type.Integer(),
  resources: Type.Integer(),
  problems: Type.Array(Type.String()),
  warnings: Type.Array(Type.String()),
  profiles: Type.Optional(
    Type.Array(Profile, {
      description: "Names for what kinds of jobs need; none of an older server",
    }),
  ),
});

export const Whoami = Type.Object({
  authentication: Type.Boolean({ description: "Whether the server asks for credentials" }),
  name: { ...nullable(Type.String()), description: "Null: the credentials are missing or wrong" },
  space: { ...nullable(Type.String()), description: "The space of the caller's leases" },
  role: nullable(Type.String()),
  proof: Type.Optional({
    ...nullable(Type.String()),
    description: "How the caller has proved who it is: none, token, issuer or certificate",
  }),
  session: Type.Optional({
    ...nullable(Type.String()),
    description: "The session of the page that the call used; the page remembers its own",
  }),
  sessionEndsAt: Type.Optional({
    ...nullable(Timestamp),
    description: "When the session of the page ends; null: the call used none",
  }),
  operator: Type.Boolean({ description: "May act on behalf of others" }),
  refusal: { ...nullable(Type.String()), description: "Why not, and what to do about it" },
  version: Type.String({ description: "Of the server" }),
  now: { ...Timestamp, description: "The server's clock" },
  startedAt: Type.Optional({ ...Timestamp, description: "When the server that answers began" }),
  head: Type.Integer({ description: "The number of the latest event" }),
});

export const SignInOffer = Type.Object({
  authentication: Type.Boolean({ description: "Whether the server asks for credentials" }),
  tokens: Type.Boolean({ description: "Whether there are tokens to sign in with" }),
  publicUrl: { ...nullable(Type.String()), description: "Where the page signs people in" },
  issuers: Type.Array(
    Type.Object({
      issuer: Type.String(),
      title: Type.String({ description: "What people call it" }),
      page: Type.Boolean({ description: "Whether people sign in to the page through it" }),
      cli: {
        ...nullable(Type.Object({ client: Type.String(), scopes: Type.Array(Type.String()) })),
        description: "The client id for berth login; null: it does not use this issuer",
      },
    }),
  ),
});

export const SignInStarted = Type.Object({
  location: Type.String({ description: "The page of the issuer where the user signs in" }),
  transaction: Type.String({ description: "To finish with; only the server can read it" }),
});

export const SignedOut = Type.Object({
  issuer: {
    ...nullable(Type.String()),
    description: "Where to end the session at the issuer as well; null: it has no such page",
  },
});

export const Trends = Type.Object({
  stepSeconds: Type.Number(),
  until: { ...Timestamp, description: "When the last sample was taken" },
  pools: Type.Array(
    Type.Object({
      pool: Type.String(),
      held: Type.Array(Type.Integer(), { description: "For use; the oldest first" }),
      waiting: Type.Array(Type.Integer()),
      usedPercent: Type.Optional(
        Type.Array(Type.Integer(), {
          description:
            "Of a shared pool: how much is in use of the dimension that is fullest. Since its capacity is known",
        }),
      ),
    }),
  ),
});

export const SearchHit = Type.Object({
  kind: Type.Union([
    Type.Literal("pool"),
    Type.Literal("space"),
    Type.Literal("hub"),
    Type.Literal("cluster"),
    Type.Literal("resource"),
    Type.Literal("lease"),
    Type.Literal("request"),
  ]),
  name: Type.String({
    description: "Of the pool, space, hub, cluster or resource; the id of the lease or request",
  }),
  title: Type.String({ description: "What people call it: the name, or the holder" }),
  about: Type.String({ description: "What else a person wants to know of it" }),
  match: Type.Optional(
    Type.String({
      description: "The text that was found, if no name has it: of a note, a reason or a label",
    }),
  ),
});

export const SearchResult = Type.Object({
  items: Type.Array(SearchHit),
  more: Type.Boolean({ description: "There are more than are told" }),
  counts: Type.Record(Type.String(), Type.Integer(), {
    description: "How many there are in all, by kind",
  }),
  meant: Type.Optional(
    Type.String({ description: "If nothing is found: the name or word that is most similar" }),
  ),
});

export const ProblemDocument = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String({ description: "Stable, for programs" }),
    hint: Type.String({ description: "What to do now" }),
  },
  { additionalProperties: true },
);

/** One page of a listing; `next` goes into `after` for the page that follows. */
export const Page = <T extends Type.TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), next: nullable(Type.String()) });

export type AskBody = Static<typeof AskBody>;
export type Claim = Static<typeof Claim>;
export type Lease = Static<typeof Lease>;
export type WaitingRequest = Static<typeof WaitingRequest>;
export type Estimate = Static<typeof Estimate>;
export type Pool = Static<typeof Pool>;
export type SignalBody = Static<typeof SignalBody>;
export type RefreshBody = Static<typeof RefreshBody>;
export type BumpBody = Static<typeof BumpBody>;
export type PinBody = Static<typeof PinBody>;
export type RateChange = Static<typeof RateChange>;
export type RateHistory = Static<typeof RateHistory>;
export type Resource = Static<typeof Resource>;
export type ResourcePatch = Static<typeof ResourcePatch>;
export type Heartbeat = Static<typeof Heartbeat>;
export type Explanation = Static<typeof Explanation>;
export type Profile = Static<typeof Profile>;
export type ConfigStatus = Static<typeof ConfigStatus>;
export type Whoami = Static<typeof Whoami>;
export type SignInOffer = Static<typeof SignInOffer>;
export type SignInStarted = Static<typeof SignInStarted>;
export type SignedOut = Static<typeof SignedOut>;
export type Trends = Static<typeof Trends>;
export type SearchHit = Static<typeof SearchHit>;
export type SearchResult = Static<typeof SearchResult>;
export interface PageOf<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}
