/** The policy fields that are groups (maps in the file). */

import {
  dayMs,
  duration,
  hourMs,
  minuteMs,
  poolSizeMax,
  rate,
  secondMs,
  share,
  ttlMsMin,
  yearMs,
} from "./field-kinds.ts";
import type { ByStateKind, Fields, GroupKind, InlineKind } from "./fields.ts";
import type {
  AdaptivePolicy,
  CleaningPolicy,
  DynamicPolicy,
  PacePolicy,
  PlacementPolicy,
  Silence,
} from "./policy.ts";
import { strategies } from "./strategies.ts";

const silenceFields = {
  afterMs: {
    key: "after",
    kind: duration(ttlMsMin, yearMs),
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

export const silence: ByStateKind<typeof silenceFields> = {
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
    label: "Max",
    text: "The pool never has more resources than this, listed ones included.",
    examples: [5],
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

export const dynamic: GroupKind<typeof dynamicFields> = {
  type: "group",
  title: "dynamic part",
  hint: "write { max: 5 }, or { min: 1, max: 5 }",
  fields: dynamicFields,
};

/** In the file these fields are in `janitor`, together with fields that the core does not need. */
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
    text: "How long the resource cools down after the first failure; twice as long after each further one.",
    examples: ["1m"],
  },
} as const satisfies Fields<CleaningPolicy>;

export const cleaning: GroupKind<typeof cleaningFields> = {
  type: "group",
  title: "janitor",
  hint: "write { command: [./clean.sh] }",
  fields: cleaningFields,
};

const paceFields = {
  everyMs: {
    key: "every",
    kind: { type: "duration", minMs: 1, maxMs: dayMs, also: "auto" },
    label: "Every",
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

export const pace: GroupKind<typeof paceFields> = {
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

export const adaptive: GroupKind<typeof adaptiveFields> = {
  type: "group",
  title: "adaptive rate",
  hint: "write { min: 0.5, max: 6 }",
  fields: adaptiveFields,
};

const placementFields = {
  strategy: {
    key: "place",
    kind: { type: "choice", title: "strategy", choices: strategies },
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
    optional: true,
    label: "Other strategies",
    text: "Strategies that a request may choose instead of the pool's own.",
    examples: [["pack"]],
    more: "capacity.md",
  },
  parts: {
    key: "parts",
    kind: { type: "parts" },
    optional: true,
    label: "Parts",
    text:
      "What is lent whole together with an amount, such as networks: by kind, then by name. A part " +
      "may belong to several members, and is lent to one lease or one group at a time.",
    more: "capacity.md",
  },
} as const satisfies Fields<PlacementPolicy>;

export const placement: InlineKind<typeof placementFields> = {
  type: "inline",
  fields: placementFields,
};
