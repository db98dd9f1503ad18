/** The checker is checked: each of these must not happen, and the ledger must say so. */
import { expect, test } from "vitest";
import type { DurableEvent } from "../src/core/model/event.ts";
import { Ledger } from "./ledger.ts";

const add = (resource: string, pool = "aws") => ({ type: "resource-added", pool, resource });
const ask = (count = 1, more: object = {}) => {
  return { holder: "x", items: [{ pool: "aws", count }], ttlMs: 1, ...more };
};
const queue = (id: string, wanted: object = ask()) => ({ type: "request-queued", id, ask: wanted });
const grant = (id: string, resources: readonly string[], more: object = {}) => ({
  type: "lease-granted",
  id,
  claims: resources.map((resource, index) => ({ id: `${index + 1}`, resource, fence: ++fence })),
  ...more,
});
const end = (id: string, resources: readonly string[]) => ({
  type: "lease-ended",
  id,
  why: "released",
  back: resources.map((resource) => ({ resource, state: "free" })),
});
const revoke = (id: string) => ({
  type: "lease-revoked",
  id,
  heldUntil: 9,
  reason: { by: "operator" },
});
let fence = 0;

const pace = { everyMs: 1_000, burst: 1, jitter: 0 };
const admission = { by: "test" };
const pacedBy = (name: string) => [{ pool: name, baseAt: 0, ticks: 1, everyMs: 1_000 }];
const paced = pacedBy("aws");
const gcp = { pool: "gcp", count: 1 };

const zoneA = { pool: "aws", count: 1, selector: { zone: "a" } };

const red = { space: "red" };
const twoOfAws = { name: "red", policy: { weight: 1, quotas: [{ pool: "aws", max: 2 }] } };
const costsTwo = { name: "red", policy: { weight: 1, quotas: [], costMax: 3 } };
const threeOfAws = (policy: object = {}) => [
  { type: "pool-defined", pool: "aws", policy },
  ...[add("a"), add("b"), add("c")],
];

const impossible: Record<string, () => object[]> = {
  "a grant beyond the quota of its space": () => [
    ...threeOfAws(),
    { type: "spaces-defined", spaces: [twoOfAws], others: null },
    grant("x", ["a", "b"], { ask: ask(2, red) }),
    grant("y", ["c"], { ask: ask(1, red) }),
  ],
  "a grant that costs more than its space may": () => [
    ...threeOfAws({ cost: 2 }),
    { type: "spaces-defined", spaces: [costsTwo], others: null },
    grant("x", ["a"], { ask: ask(1, red) }),
    grant("y", ["b"], { ask: ask(1, red) }),
  ],
  "a grant ahead of a space with a lower share": () => [
    ...threeOfAws(),
    grant("x", ["a"], { ask: ask(1, red) }),
    queue("y", ask(1, red)),
    queue("z", ask(1, { space: "blue" })),
    grant("y", ["b"]),
  ],
  "a grant before the pace allows it": () => [
    { type: "pool-defined", pool: "aws", policy: { pace } },
    add("a"),
    add("b"),
    grant("x", ["a"], { ask: ask(), paced }),
    grant("y", ["b"], { ask: ask(), paced }),
  ],
  "a grant before the pace of what its pool draws on allows it": () => [
    { type: "pool-defined", pool: "account", policy: { pace, limit: 9 } },
    { type: "pool-defined", pool: "profile", policy: { parent: "account", limit: 9 } },
    { type: "pool-defined", pool: "aws", policy: { parent: "profile" } },
    { type: "pool-defined", pool: "gcp", policy: { parent: "account" } },
    add("a"),
    add("b", "gcp"),
    grant("x", ["a"], { ask: ask(), paced: pacedBy("account") }),
    grant("y", ["b"], { ask: { ...ask(), items: [gcp] }, paced: pacedBy("account") }),
  ],
  "a grant that keeps no pace of what its pool draws on": () => [
    { type: "pool-defined", pool: "account", policy: { pace, limit: 9 } },
    { type: "pool-defined", pool: "aws", policy: { parent: "account" } },
    add("a"),
    grant("x", ["a"], { ask: ask() }),
  ],
  "a grant of what nobody said there was room for": () => [
    { type: "pool-defined", pool: "aws", policy: { admission } },
    add("a"),
    grant("x", ["a"], { ask: ask() }),
  ],
  "a grant of a resource without the label that was asked for": () => [
    { ...add("a"), labels: { zone: "b" } },
    grant("x", ["a"], { ask: { ...ask(), items: [{ ...zoneA, count: 1 }] } }),
  ],
  "a grant of another resource than the one that was named": () => [
    add("a"),
    grant("x", ["a"], { ask: { ...ask(), items: [{ pool: "aws", count: 1, resource: "b" }] } }),
  ],
  "a grant with one resource for two items": () => [
    { ...add("a"), labels: { zone: "a" } },
    add("b"),
    grant("x", ["a", "b"], { ask: { ...ask(), items: [zoneA, { ...zoneA, resource: "a" }] } }),
  ],
  "a grant of the resource that an earlier request has asked for": () => [
    { ...add("a"), labels: { zone: "a" } },
    queue("x", { ...ask(), items: [{ ...zoneA, count: 2 }] }),
    grant("y", ["a"], { ask: ask() }),
  ],
  "two grants for one credit": () => [
    { type: "pool-defined", pool: "aws", policy: { admission } },
    { type: "pool-admitted", pool: "aws", grants: 1, until: 10_000 },
    add("a"),
    add("b"),
    grant("x", ["a"], { ask: ask() }),
    grant("y", ["b"], { ask: ask() }),
  ],
  "a grant for a credit that has lapsed": () => [
    { type: "pool-defined", pool: "aws", policy: { admission } },
    { type: "pool-admitted", pool: "aws", grants: 1, until: 0 },
    add("a"),
    grant("x", ["a"], { ask: ask() }),
  ],
  "a grant for a credit that was taken back": () => [
    { type: "pool-defined", pool: "aws", policy: { admission } },
    { type: "pool-admitted", pool: "aws", grants: 1, until: 10_000 },
    { type: "pool-withheld", pool: "aws", why: "no room" },
    add("a"),
    grant("x", ["a"], { ask: ask() }),
  ],
  "one resource for two": () => [
    add("a"),
    grant("x", ["a"], { ask: ask() }),
    grant("y", ["a"], { ask: ask() }),
  ],
  "a grant in part": () => [add("a"), add("b"), grant("x", ["a"], { ask: ask(2) })],
  "a grant of too much": () => [add("a"), add("b"), grant("x", ["a", "b"], { ask: ask() })],
  "a fence that does not grow": () => [
    add("a"),
    { ...grant("x", [], { ask: ask() }), claims: [{ id: "1", resource: "a", fence: 5 }] },
    end("x", ["a"]),
    { ...grant("y", [], { ask: ask() }), claims: [{ id: "1", resource: "a", fence: 5 }] },
  ],
  "two leases for one key": () => [
    add("a"),
    add("b"),
    grant("x", ["a"], { ask: ask(1, { key: "k" }) }),
    grant("y", ["b"], { ask: ask(1, { key: "k" }) }),
  ],
  "two leases for one key, the first of them revoked": () => [
    add("a"),
    add("b"),
    grant("x", ["a"], { ask: ask(1, { key: "k" }) }),
    revoke("x"),
    grant("y", ["b"], { ask: ask(1, { key: "k" }) }),
  ],
  "two leases for one key of one that polls and knows of neither": () => [
    add("a"),
    add("b"),
    grant("x", ["a"], { ask: ask(1, { key: "k", presenceMs: 1 }) }),
    grant("y", ["b"], { ask: ask(1, { key: "k", presenceMs: 1 }) }),
  ],
  "two leases for one that polls and knows of neither": () => [
    add("a"),
    add("b"),
    grant("x", ["a"], { ask: ask(1, { key: "k", presenceMs: 1 }) }),
    grant("y", ["b"], { ask: ask(1, { key: "l", presenceMs: 1 }) }),
  ],
  "one that is to go and is lent": () => [
    { type: "pool-defined", pool: "aws", policy: { dynamic: { max: 1 } } },
    { ...add("a"), dynamic: true },
    { type: "resource-changed", resource: "a", state: "toBeDeleted" },
    grant("x", ["a"], {
      ask: ask(1, { items: [{ pool: "aws", count: 1, state: "toBeDeleted" }] }),
    }),
    end("x", ["a"]),
    grant("y", ["a"], { ask: ask() }),
  ],
  "more made than there may be": () => [
    { type: "pool-defined", pool: "aws", policy: { dynamic: { max: 1 } } },
    add("a"),
    { ...add("b"), dynamic: true },
  ],
  "one that nobody came for and that is touched": () => [
    add("a"),
    grant("x", ["a"], { ask: ask() }),
    {
      ...end("x", ["a"]),
      ...{ why: "uncollected", back: [{ resource: "a", state: "dirty" }] },
    },
  ],
  "one lent that is in another state": () => [
    { ...add("a"), state: "dirty" },
    grant("x", ["a"], { ask: ask() }),
  ],
  "an overtaking": () => [add("a"), queue("x"), queue("y"), grant("y", ["a"])],
  "an overtaking by one who never queued": () => [
    add("a"),
    queue("x"),
    grant("y", ["a"], { ask: ask() }),
  ],
  "an overtaking of higher priority": () => [
    add("a"),
    queue("x"),
    queue("urgent", ask(1, { priority: 1 })),
    grant("x", ["a"]),
  ],
  "a grant of what is drained": () => [
    add("a"),
    { type: "resource-changed", resource: "a", drained: true },
    grant("x", ["a"], { ask: ask() }),
  ],
  "a grant of what is dirty": () => [
    add("a"),
    { type: "resource-changed", resource: "a", state: "dirty" },
    grant("x", ["a"], { ask: ask() }),
  ],
  "a release by another": () => [
    add("a"),
    add("b"),
    grant("x", ["a"], { ask: ask() }),
    grant("y", ["b"], { ask: ask() }),
    end("x", ["b"]),
  ],
  "a release twice": () => [
    add("a"),
    grant("x", ["a"], { ask: ask() }),
    end("x", ["a"]),
    end("x", ["a"]),
  ],
  "a removal from its holder": () => [
    add("a"),
    grant("x", ["a"], { ask: ask() }),
    { type: "resource-removed", resource: "a" },
  ],
  "a departure of one who does not wait": () => [
    { type: "request-left", id: "x", why: "cancelled" },
  ],
  "an id that is used twice": () => [add("a"), queue("x"), queue("x")],
};

test.each(Object.entries(impossible))("Ledger does not accept %s", (_, make) => {
  const ledger = new Ledger();
  const events = make() as DurableEvent[];
  const last = events.pop() as DurableEvent;
  for (const event of events) ledger.record(event, 0);
  expect(() => ledger.record(last, 0)).toThrow();
});

test("Ledger accepts another lease for a key of one that polls, after the first was revoked", () => {
  const polled = { ask: ask(1, { key: "k", presenceMs: 1 }) };
  const ledger = new Ledger();
  const record = (...events: object[]) => {
    for (const event of events as DurableEvent[]) ledger.record(event, 0);
  };
  record(add("a"), add("b"), add("c"), grant("x", ["a"], polled), revoke("x"));
  record(grant("y", ["b"], polled));
  // The second counts as any other: there is no third beside it.
  expect(() => record(grant("z", ["c"], polled))).toThrow("y and z");
});
