/**
 * All fields of a pool's policy; groups of fields are in `policy-groups.ts`. The core has the
 * rules. The order is that of the documentation and of the wire.
 */
import {
  dayMs,
  duration,
  minuteMs,
  poolSizeMax,
  secondMs,
  ttlMsMin,
  yearMs,
} from "./field-kinds.ts";
import type { Fields } from "./fields.ts";
import type { PoolPolicy } from "./policy.ts";
import { adaptive, cleaning, dynamic, pace, placement, silence } from "./policy-groups.ts";

export const policyFields = {
  // More than one heartbeat per second is only load. With a ttl above a day, requests wait for a
  // job that died yesterday.
  ttlMs: {
    key: "ttl",
    kind: duration(ttlMsMin, dayMs),
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
    label: "Pause after a lost holder",
    text:
      "A resource taken from a holder that vanished or was cut off is not lent again until this long " +
      "after, or after the cooldown if that is longer: the holder may still be at work.",
    examples: ["15s"],
  },
  patienceMs: {
    key: "patience",
    kind: duration(0, 7 * dayMs),
    default: 10 * minuteMs,
    label: "Smaller requests may overtake for",
    text:
      "The patience of the pool: how long smaller requests may overtake one over several pools, or for an " +
      "amount. What becomes free is then reserved for it. A space that gets nothing here for as long goes first.",
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
    optional: true,
    label: "Timeouts without heartbeat",
    text:
      "For holders that Berth knows by name only, as Boskos's clients are: by the state in which " +
      "they hold a resource, after how much silence they lose it. Without it they keep it.",
    examples: [{ busy: "30m", leased: { after: "2h", to: "dirty" } }],
    more: "configuration.md#silent-holders",
  },
  states: {
    key: "states",
    kind: { type: "states", max: 64 },
    optional: true,
    label: "Allowed states",
    text:
      "The states that clients and operators may put resources into, besides those that Berth uses " +
      "itself (`busy`, `cleaning`, `quarantined` and so on). Any other state is refused, so that a " +
      "typo takes nothing out of use. Without it every state is allowed.",
    examples: [["free", "dirty", "leased"]],
  },
  dynamic: {
    key: "dynamic",
    kind: dynamic,
    optional: true,
    label: "Dynamic resources",
    text: "Resources that come and go with demand, named `<pool>-<number>`, beside those that are listed.",
    examples: [{ min: 1, max: 5 }],
    more: "configuration.md#resources-that-come-and-go",
  },
  cleaning: {
    key: "janitor",
    wire: "cleaning",
    kind: cleaning,
    optional: true,
    label: "Cleaning",
    text: "Cleans the dirty resources of the pool, so that they are lent again.",
    examples: [{ command: ["./clean-account.sh"], timeout: "30m" }],
    more: "configuration.md#the-janitor",
  },
  pace: {
    key: "pace",
    kind: pace,
    optional: true,
    label: "Pace",
    text: "Spaces the grants of the pool and of all pools below it out, so that holders do not start together.",
    examples: [{ every: "24s" }, { every: "auto", burst: 2 }],
    more: "install-leases.md#pace-starts-are-spread-not-only-counted",
  },
  adaptive: {
    key: "adaptive",
    kind: adaptive,
    optional: true,
    label: "Adaptive rate",
    text: "Finds the rate of starts that the provider accepts, from holders' reports of throttling.",
    examples: [{ min: 0.5, max: 6 }],
    more: "install-leases.md#adaptive-the-rate-finds-itself",
  },
  parent: {
    key: "parent",
    kind: { type: "pool" },
    optional: true,
    label: "Parent",
    text: "The pool whose limit and pace hold for this pool's leases as well, and so on upwards.",
    examples: ["aws-account"],
  },
  limit: {
    key: "limit",
    kind: { type: "number", min: 0, max: poolSizeMax, whole: true },
    optional: true,
    label: "Limit",
    text:
      "How many may be held at one time of this pool and of all pools below it. Without it, as many " +
      "as the pool has. A pool with a limit needs no resources of its own.",
    examples: [155],
  },
  cost: {
    key: "cost",
    kind: { type: "number", min: 0, max: 1_000_000, whole: true },
    optional: true,
    label: "Cost of a claim, for quotas",
    text: "What one claim costs, for the `cost` quotas of spaces. Without it a claim costs nothing.",
    examples: [10],
  },
  preempt: {
    key: "preempt",
    kind: { type: "flag" },
    optional: true,
    label: "Preemption",
    text:
      "Leases of a lower priority, or that a space has borrowed, are ended with notice if a waiting " +
      "request can then be granted. Only for exclusive pools.",
    examples: [true],
    more: "spaces.md#preemption",
  },
  noticeMs: {
    key: "notice",
    kind: duration(0, dayMs),
    optional: true,
    label: "Notice",
    text: "With `preempt`: how long a holder has from the notice until its lease is revoked; `1m` without it.",
    examples: ["5m"],
  },
  admission: {
    key: "admission",
    kind: { type: "outside" },
    optional: true,
    label: "Admission",
    text: "The pool is lent only while a check of a Kubernetes cluster finds capacity.",
    more: "configuration.md#admission",
  },
  cluster: {
    key: "template",
    kind: { type: "fixed" },
    optional: true,
    label: "Template",
    text: "The pool makes its resources from this template: it creates, hibernates and destroys them.",
    more: "clusters.md",
  },
  placement: {
    key: "place",
    kind: placement,
    optional: true,
    label: "Placement",
    text: "How the resources of a pool that is lent by amount are chosen.",
  },
} as const satisfies Fields<PoolPolicy>;
