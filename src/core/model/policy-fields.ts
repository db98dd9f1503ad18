/** Every field of a pool's policy, once. What a field does is a rule of the core. */
import { strategies } from "../shared/placement/demand.ts";
import type { ByStateKind, Fields, GroupKind, InlineKind } from "./fields.ts";
import type {
  AdaptivePolicy,
  CleaningPolicy,
  DynamicPolicy,
  PacePolicy,
  PlacementPolicy,
  PoolPolicy,
  Silence,
} from "./policy.ts";

const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000];
const yearMs = 365 * dayMs;

/** Of one pool, and of all pools of one file together. */
export const poolSizeMax = 1_000_000;

/** Starts per minute, for policies and for pins. */
export const rateMin = 0.001;
export const rateMax = 60_000;

const duration = (minMs: number, maxMs: number) =>
  ({ type: "duration", minMs, maxMs, also: 0 }) as const;
const rate = {
  type: "number",
  min: rateMin,
  max: rateMax,
  title: "number of starts per minute",
} as const;
const share = (min: number, max: number) => ({ type: "number", min, max, title: "share" }) as const;

const silenceFields = {
  afterMs: {
    key: "after",
    kind: duration(secondMs, yearMs),
    required: true,
    label: "Timeout",
    text: "The holder loses the resource after this long without an update.",
    examples: ["30m"],
  },
  to: {
    key: "to",
    kind: { type: "state" },
    default: "free",
    follows: "onExpire",
    label: "Next state",
    text: "The state that the resource goes to then; as `onExpire` unless written.",
  },
} as const satisfies Fields<Silence>;

const silence: ByStateKind<typeof silenceFields> = {
  type: "by-state",
  title: "map of silences",
  hint: "write { busy: 30m }",
  groupHint: "write 30m, or { after: 30m, to: dirty }",
  short: "afterMs",
  statesMax: 64,
  fields: silenceFields,
};

const dynamicFields = {
  min: {
    key: "min",
    kind: { type: "count", min: 0, max: poolSizeMax },
    default: 0,
    label: "Min",
    text: "There are never fewer of them than this.",
  },
  max: {
    key: "max",
    kind: { type: "count", min: 1, max: poolSizeMax },
    required: true,
    label: "Max",
    text: "The pool never has more resources than this, listed ones included.",
  },
  state: {
    key: "state",
    kind: { type: "state" },
    default: "free",
    label: "Initial state",
    text: "The state of a new resource.",
  },
  lifespanMs: {
    key: "lifespan",
    kind: duration(secondMs, yearMs),
    default: null,
    label: "Lifespan",
    text: "A resource that nobody takes for this long after its release is deleted. Without it they stay.",
    examples: ["12h"],
  },
} as const satisfies Fields<DynamicPolicy>;

const dynamic: GroupKind<typeof dynamicFields> = {
  type: "group",
  title: "dynamic part",
  hint: "write { max: 5 }, or { min: 1, max: 5 }",
  fields: dynamicFields,
};

/** In the file they stand in `janitor`, beside what the core need not know. */
const cleaningFields = {
  retries: {
    key: "retries",
    kind: { type: "count", min: 1, max: 100 },
    default: 3,
    label: "Retries",
    text: "After this many failures in a row the resource is quarantined.",
  },
  backoffMs: {
    key: "backoff",
    kind: duration(0, hourMs),
    default: minuteMs,
    label: "Backoff",
    text: "How long the resource rests after the first failure; twice as long after each further one.",
    examples: ["1m"],
  },
} as const satisfies Fields<CleaningPolicy>;

const cleaning: GroupKind<typeof cleaningFields> = {
  type: "group",
  title: "janitor",
  hint: "write { command: [./clean.sh] }",
  fields: cleaningFields,
};

const paceFields = {
  everyMs: {
    key: "every",
    kind: { type: "duration", minMs: 1, maxMs: dayMs, also: "auto" },
    required: true,
    label: "Interval",
    text:
      "The time between two grants. `auto`: the hold divided by how many may be held at one time, " +
      "from measured holds once there are some.",
    examples: ["24s", "auto"],
  },
  burst: {
    key: "burst",
    kind: { type: "number", min: 1, max: 10_000, whole: true },
    default: 1,
    label: "Burst",
    text: "How many may be granted at once after a quiet time.",
    examples: [5],
  },
  jitter: {
    key: "jitter",
    kind: share(0, 1),
    default: 0,
    label: "Jitter",
    text:
      "Delays each grant by up to this share of `every`, by a hash of the request before: the same " +
      "history has the same times, and the average rate stays.",
    examples: [0.25],
  },
} as const satisfies Fields<PacePolicy>;

const pace: GroupKind<typeof paceFields> = {
  type: "group",
  title: "pace",
  hint: "write { every: 24s }, or { every: auto }",
  fields: paceFields,
};

const adaptiveFields = {
  mode: {
    key: "mode",
    kind: { type: "choice", title: "mode", choices: ["off", "advise", "auto"] },
    default: "auto",
    label: "Mode",
    text: "`auto` changes the rate; `advise` only shows what it would be; `off` only counts reports.",
    examples: ["advise"],
  },
  min: {
    key: "min",
    kind: rate,
    default: 0.1,
    label: "Min rate",
    text: "Starts per minute; no report lowers the rate below this.",
    examples: [2.5],
  },
  max: {
    key: "max",
    kind: rate,
    default: 60,
    label: "Max rate",
    text: "Starts per minute; the rate never rises above this.",
    examples: [2.5],
  },
  factor: {
    key: "factor",
    kind: share(0.05, 0.99),
    default: 0.7,
    label: "Cut factor",
    text: "A report of throttling multiplies the rate by this.",
    examples: [0.7],
  },
  cutEveryMs: {
    key: "cutEvery",
    kind: { type: "duration", minMs: secondMs, maxMs: dayMs },
    default: 5 * minuteMs,
    label: "Cut at most every",
    text: "Further reports lower the rate again only after this long.",
    examples: ["5m"],
  },
  step: {
    key: "step",
    kind: rate,
    default: 0.1,
    label: "Raise by",
    text: "Starts per minute that are added after `raiseAfter`.",
    examples: [2.5],
  },
  raiseAfterMs: {
    key: "raiseAfter",
    kind: { type: "duration", minMs: secondMs, maxMs: dayMs },
    default: 10 * minuteMs,
    label: "Raise after",
    text: "The rate rises after this long without a report, if 90 % of it was used.",
    examples: ["10m"],
  },
  used: {
    key: "used",
    kind: { type: "fixed" },
    default: 0.9,
    label: "Used share",
    text: "The share of the allowed starts that must have been used before the rate rises.",
  },
} as const satisfies Fields<AdaptivePolicy>;

const adaptive: GroupKind<typeof adaptiveFields> = {
  type: "group",
  title: "adaptive rate",
  hint: "write { min: 0.5, max: 6 }",
  fields: adaptiveFields,
};

const placementFields = {
  strategy: {
    key: "place",
    kind: { type: "choice", title: "strategy", choices: strategies },
    required: true,
    label: "Placement",
    text:
      "Resources are lent by amount, each to many at a time, and this says which is taken first: " +
      "the one with the least sum of usages, the fullest, the one whose dimensions stay in balance, " +
      "or one after the other. Every member then has a capacity.",
    examples: ["least-used"],
    more: "capacity.md",
  },
  choices: {
    key: "strategies",
    kind: { type: "choices", title: "strategy", choices: strategies },
    label: "Other strategies",
    text: "Strategies that a request may choose instead of the pool's own.",
    examples: [["pack"]],
    more: "capacity.md",
  },
  parts: {
    key: "parts",
    kind: { type: "parts" },
    label: "Parts",
    text:
      "What is lent whole together with an amount, such as networks: by kind, then by name. A part " +
      "may belong to several members, and is lent to one lease or one group at a time.",
    more: "capacity.md",
  },
} as const satisfies Fields<PlacementPolicy>;

const placement: InlineKind<typeof placementFields> = { type: "inline", fields: placementFields };

/** In the order of the file's documentation, which is also that of the wire. */
export const policyFields = {
  // A heartbeat more often than each second is load without use, and a lease that is missed for more
  // than a day keeps others waiting for a job that died yesterday.
  ttlMs: {
    key: "ttl",
    kind: duration(secondMs, dayMs),
    default: 5 * minuteMs,
    label: "Heartbeat timeout",
    text:
      "Leases expire after this long without a heartbeat; waiting requests are dropped after this " +
      "long without a poll. At least the `hold` unless written. Over several pools, the shortest counts.",
    examples: ["10m"],
  },
  lifetimeMs: {
    key: "lifetime",
    kind: duration(secondMs, yearMs),
    default: null,
    label: "Max lifetime",
    text: "No lease lasts longer than this, even while its holder is alive. Without it there is no end.",
    examples: ["4h"],
  },
  holdMs: {
    key: "hold",
    kind: duration(secondMs, yearMs),
    default: null,
    label: "Auto-release after",
    text:
      "The server releases a claim this long after its grant, while the rest of the lease goes on. " +
      "Without it a claim lasts as long as its lease.",
    examples: ["20m"],
  },
  cooldownMs: {
    key: "cooldown",
    kind: duration(0, 7 * dayMs),
    default: 0,
    label: "Cooldown",
    text: "A resource is not lent again until this long after each use.",
    examples: ["10s"],
  },
  lockDelayMs: {
    key: "lockDelay",
    kind: duration(0, dayMs),
    default: 15 * secondMs,
    label: "Lock delay",
    text:
      "A resource taken from a holder that vanished or was cut off is not lent again until this long " +
      "after, or after the cooldown if that is longer: the holder may still be at work.",
    examples: ["15s"],
  },
  patienceMs: {
    key: "patience",
    kind: duration(0, 7 * dayMs),
    default: 10 * minuteMs,
    label: "Max overtaking",
    text:
      "Smaller requests may overtake a request over several pools, or for an amount, for this long; " +
      "then what becomes free is reserved for it.",
    examples: ["10m"],
    more: "install-leases.md#a-pace-that-several-pools-share",
  },
  onRelease: {
    key: "onRelease",
    kind: { type: "state" },
    default: "free",
    label: "State after release",
    text: "The state of a released resource. Only free ones are lent; any other state needs somebody to free it.",
  },
  onExpire: {
    key: "onExpire",
    kind: { type: "state" },
    default: "free",
    follows: "onRelease",
    label: "State after expiry",
    text:
      "The state of a resource whose lease expired, reached its lifetime or was revoked; as " +
      "`onRelease` unless written, or `dirty` if the pool has a `janitor`.",
  },
  silence: {
    key: "silence",
    kind: silence,
    label: "Timeouts without heartbeat",
    text:
      "For holders that Berth knows by name only, as Boskos's clients are: by the state in which " +
      "they hold a resource, after how much silence they lose it. Without it they keep it.",
    examples: [{ busy: "30m", leased: { after: "2h", to: "dirty" } }],
    more: "configuration.md#silent-holders",
  },
  dynamic: {
    key: "dynamic",
    kind: dynamic,
    label: "Dynamic resources",
    text: "Resources that come and go with demand, named `<pool>-<number>`, beside those that are listed.",
    examples: [{ min: 1, max: 5 }],
    more: "configuration.md#resources-that-come-and-go",
  },
  cleaning: {
    key: "janitor",
    wire: "cleaning",
    kind: cleaning,
    label: "Cleaning",
    text: "Cleans the dirty resources of the pool, so that they are lent again.",
    examples: [{ command: ["./clean-account.sh"], timeout: "30m" }],
    more: "configuration.md#the-janitor",
  },
  pace: {
    key: "pace",
    kind: pace,
    label: "Pace",
    text: "Spaces the grants of the pool and of all pools below it out, so that holders do not start together.",
    examples: [{ every: "24s" }, { every: "auto", burst: 2 }],
    more: "install-leases.md#pace-starts-are-spread-not-only-counted",
  },
  adaptive: {
    key: "adaptive",
    kind: adaptive,
    label: "Adaptive rate",
    text: "Finds the rate of starts that the provider accepts, from holders' reports of throttling.",
    examples: [{ min: 0.5, max: 6 }],
    more: "install-leases.md#adaptive-the-rate-finds-itself",
  },
  parent: {
    key: "parent",
    kind: { type: "pool" },
    label: "Parent",
    text: "The pool whose limit and pace hold for this pool's leases as well, and so on upwards.",
    examples: ["aws-account"],
  },
  limit: {
    key: "limit",
    kind: { type: "number", min: 0, max: poolSizeMax, whole: true },
    label: "Limit",
    text:
      "How many may be held at one time of this pool and of all pools below it. Without it, as many " +
      "as the pool has. A pool with a limit needs no resources of its own.",
    examples: [155],
  },
  admission: {
    key: "admission",
    kind: { type: "outside" },
    label: "Admission",
    text: "The pool is lent only while a check of a Kubernetes cluster finds room.",
    more: "configuration.md#admission",
  },
  placement: {
    key: "place",
    kind: placement,
    label: "Placement",
    text: "How the resources of a pool that is lent by amount are chosen.",
  },
} as const satisfies Fields<PoolPolicy>;
