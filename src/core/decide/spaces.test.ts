/** Fair share between spaces, their quotas, and what else their policies say. */
import { describe, expect, test } from "vitest";
import { explainNeeds, waitReason } from "../explain/explain.ts";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId, SpaceName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { anySpace, defaultSpacePolicy, type SpacePolicy, type SpacesSpec } from "../model/space.ts";
import type { Instant } from "../model/time.ts";
import { capacityPool, want } from "../shared/capacity.suite.ts";
import { acquire, Lending, leave, pool, release } from "./lending.suite.ts";

const a = "a" as SpaceName;
const b = "b" as SpaceName;

function spaces(policies: Readonly<Record<string, Partial<SpacePolicy>>>): SpacesSpec {
  const named = Object.entries(policies).map(([name, policy]) => {
    return { name: name as SpaceName, policy: { ...defaultSpacePolicy, ...policy } };
  });
  return { ...anySpace, spaces: named };
}

const quota = (name: string, max: number, dimension?: string) => ({
  pool: name as PoolName,
  max,
  ...(dimension === undefined ? undefined : { dimension }),
});

function lending(
  pools: readonly PoolSpec[],
  policies: Readonly<Record<string, Partial<SpacePolicy>>> = {},
): Lending {
  const made = new Lending(...pools);
  made.do({ type: "configure", pools, spaces: spaces(policies) });
  return made;
}

const ask = (id: string, wanted: string, space: SpaceName, more: object = {}): Command =>
  acquire(id, wanted, { space, ...more });

const shareOf = (made: Lending, space: SpaceName) => made.state.spaces.get(space)?.share;

const reasonOf = (made: Lending, id: string) => {
  const request = made.state.requests.get(id as RequestId);
  return request === undefined ? undefined : waitReason(request, made.now);
};

describe("fair share", () => {
  test("lends to the space that holds least, and in a space first come, first served", () => {
    const made = lending([pool("aws", 4)]);
    for (const id of ["a1", "a2", "a3"]) made.do(ask(id, "aws", a));
    made.do(ask("b1", "aws", b));
    for (const id of ["a4", "a5"]) made.do(ask(id, "aws", a));
    for (const id of ["b2", "b3"]) made.do(ask(id, "aws", b));
    expect(made.line("aws")).toEqual(["b2", "b3", "a4", "a5"]);
    made.do(release("a1"));
    expect(made.held("b2")).toBeDefined();
    expect([shareOf(made, a), shareOf(made, b)]).toEqual([0.5, 0.5]);
    // With equal shares the request that came first is first.
    expect(made.line("aws")).toEqual(["a4", "a5", "b3"]);
    made.do(release("b1"));
    expect(made.held("b3")).toBeDefined();
    expect(made.line("aws")).toEqual(["a4", "a5"]);
  });

  test("a weight of two gets twice as much", () => {
    const made = lending([pool("aws", 6)], { a: { weight: 2 } });
    for (let index = 1; index <= 6; index++) made.do(ask(`a${index}`, "aws", a));
    for (let index = 1; index <= 6; index++) made.do(ask(`b${index}`, "aws", b));
    for (let index = 7; index <= 12; index++) made.do(ask(`a${index}`, "aws", a));
    for (const id of ["a1", "a2", "a3", "a4", "a5", "a6"]) made.do(release(id));
    const held = [...made.state.leases.keys()].map((id) => id.charAt(0));
    expect(held.filter((one) => one === "a")).toHaveLength(4);
    expect(held.filter((one) => one === "b")).toHaveLength(2);
  });

  test("counts the largest part of any pool", () => {
    const made = lending([pool("aws", 10), pool("gcp", 2)]);
    made.do(ask("a1", "gcp", a));
    made.do(ask("b1", "aws:3", b));
    expect([shareOf(made, a), shareOf(made, b)]).toEqual([0.5, 0.3]);
    made.do(ask("b2", "aws:7", b));
    made.do(ask("a2", "aws", a));
    made.do(ask("b3", "aws", b));
    expect(made.line("aws")).toEqual(["a2", "b3"]);
    made.do(release("b2"));
    expect(made.held("a2")).toBeDefined();
  });

  test("priority goes before share", () => {
    const made = lending([pool("aws", 2)]);
    made.do(ask("a1", "aws", a));
    made.do(ask("a2", "aws", a));
    made.do(ask("b1", "aws", b));
    made.do(ask("a3", "aws", a, { priority: 1 }));
    expect(made.line("aws")).toEqual(["a3", "b1"]);
    made.do(release("a1"));
    expect(made.held("a3")).toBeDefined();
  });

  test("a space that comes back has no debt and no credit", () => {
    const made = lending([pool("aws", 2)]);
    made.do(ask("a1", "aws:2", a));
    made.do(release("a1"));
    expect(made.state.spaces.size).toBe(0);
    made.do(ask("b1", "aws", b));
    made.do(ask("b2", "aws", b));
    made.do(ask("b3", "aws", b));
    made.do(ask("a2", "aws", a));
    expect(made.line("aws")).toEqual(["a2", "b3"]);
  });

  test("a request whose turn comes by a release elsewhere is granted at once", () => {
    // `a` waits for both pools, out of patience, and keeps the free aws from those behind it.
    const made = lending([pool("aws", 2, { patienceMs: 10_000 }), pool("gcp", 1), pool("own", 4)]);
    made.do(ask("x", "gcp", b));
    made.do(ask("b1", "own:4", b));
    made.do(ask("a1", "aws", a));
    made.do(ask("both", "aws gcp", a));
    made.now = (made.now + 10_000) as Instant;
    made.do(ask("b2", "aws", b));
    expect(made.held("b2")).toBeUndefined();
    made.do(release("b1"));
    // The share of `b` is that of one gcp of one: 1. It stays behind.
    expect(made.held("b2")).toBeUndefined();
    made.do(leave("both"));
    expect(made.held("b2")).toBeDefined();
  });

  test("moves ahead of a request that keeps resources, when its own share falls", () => {
    const made = lending([pool("aws", 2, { patienceMs: 0 }), pool("gcp", 1), pool("own", 4)]);
    made.do(acquire("x", "gcp"));
    made.do(ask("b1", "own:4", b));
    made.do(ask("a1", "aws", a));
    made.do(ask("both", "aws gcp", a));
    made.do(ask("b2", "aws", b));
    expect(made.held("b2")).toBeUndefined();
    made.do(release("b1"));
    expect(made.held("b2")).toBeDefined();
  });

  test("follows the size of a pool", () => {
    const made = lending([pool("aws", 4)]);
    made.do(ask("a1", "aws", a));
    expect(shareOf(made, a)).toBe(0.25);
    made.do({ type: "configure", pools: [pool("aws", 2)], spaces: spaces({ a: { weight: 4 } }) });
    expect(shareOf(made, a)).toBe(0.125);
  });

  test("cleaning counts nothing", () => {
    const made = lending([pool("aws", 2)]);
    made.do(ask("a1", "aws", a));
    made.do(release("a1", { state: "dirty" }));
    const item = { pool: "aws" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    const cleaner = { holder: "cleaner", space: a, items: [item], ttlMs: 1_000 };
    made.do({ type: "acquire", id: "c" as RequestId, ask: cleaner, waitMs: 0, nowOnly: true });
    expect(made.held("c")).toBeDefined();
    expect(shareOf(made, a)).toBe(0);
  });
});

describe("a quota", () => {
  test("delays what it does not allow now, and holds up nobody else", () => {
    const made = lending([pool("aws", 5)], { a: { quotas: [quota("aws", 2)] } });
    for (const id of ["a1", "a2", "a3", "a4"]) made.do(ask(id, "aws", a));
    expect(made.line("aws")).toEqual(["a3", "a4"]);
    expect(reasonOf(made, "a3")).toEqual({
      code: "quota_reached",
      pool: "aws",
      message: "a holds 2 of its quota of 2 aws (job-a1, job-a2), 1 needed; next of its space",
    });
    made.do(ask("b1", "aws", b));
    expect(made.held("b1")).toBeDefined();
    made.do(release("a1"));
    expect(made.held("a3")).toBeDefined();
    expect(made.held("a4")).toBeUndefined();
  });

  test("keeps nothing in the explanations of others", () => {
    const policy = { patienceMs: 0 };
    const made = lending([pool("aws", 3, policy), pool("gcp", 1)], {
      a: { quotas: [quota("aws", 1)] },
    });
    made.do(ask("a1", "aws", a));
    made.do(ask("over two pools", "aws gcp", a, { priority: 1 }));
    made.do(ask("b1", "aws:3", b));
    const request = made.state.requests.get("b1" as RequestId);
    const explained = request === undefined ? [] : explainNeeds(request, made.now);
    expect(explained[0]?.aheadOfIt).toMatchObject([{ id: "over two pools", keeps: 0 }]);
    expect(reasonOf(made, "b1")?.code).toBe("not_enough_free");
  });

  test("is what a request waited for that a released claim let go", () => {
    const made = lending([pool("aws", 3)], { a: { quotas: [quota("aws", 2)] } });
    made.do(ask("a1", "aws:2", a));
    made.do(ask("a2", "aws", a));
    made.tickAt(1_000);
    const { events } = made.do(release("a1", { claim: "1" }));
    expect(events.find(({ type }) => type === "lease-granted")).toMatchObject({
      id: "a2",
      waitedFor: "quota_reached",
    });
  });

  test("lets others pass, however many requests of the space wait", () => {
    const made = lending([pool("aws", 3)], { a: { quotas: [quota("aws", 1)] } });
    made.do(acquire("first", "aws:2"));
    for (let index = 0; index < 250; index++) made.do(ask(`a${index}`, "aws", a));
    made.do(ask("b1", "aws", b));
    made.do(ask("b2", "aws", b));
    made.do(release("first"));
    expect([made.held("b1"), made.held("b2")]).toEqual([["aws-1"], ["aws-2"]]);
  });

  test("of a space that is the only one does not end the walk of requests without a space", () => {
    const made = lending([pool("aws", 2)], { a: { quotas: [quota("aws", 1)] } });
    made.do(ask("a1", "aws", a));
    made.do(ask("a2", "aws", a));
    made.do(acquire("nobody", "aws"));
    expect(made.held("nobody")).toBeDefined();
  });

  test("refuses what it never allows, with the numbers", () => {
    const made = lending([pool("aws", 5)], { a: { quotas: [quota("aws", 2)] } });
    expect(made.outcome(ask("a1", "aws:3", a))).toEqual({
      type: "refused",
      refusal: { code: "quota_too_small", space: "a", pool: "aws", asked: 3, max: 2 },
    });
  });

  test("counts the pools below, and costs over all pools", () => {
    const parent = { parent: "account" as PoolName };
    const pools = [pool("account", 0, { limit: 9 }), pool("x", 3, parent), pool("y", 3, parent)];
    const made = lending(pools, { a: { quotas: [quota("account", 2)] } });
    for (const [id, of] of [
      ["a1", "x"],
      ["a2", "y"],
      ["a3", "y"],
    ] as const)
      made.do(ask(id, of, a));
    expect(reasonOf(made, "a3")?.message).toContain("a holds 2 of its quota of 2 account");
    const dear = [pool("x", 3, { cost: 10 }), pool("y", 3, { cost: 1 })];
    const costly = lending(dear, { a: { costMax: 12 } });
    for (const [id, of] of [
      ["a1", "x"],
      ["a2", "x"],
      ["a3", "y:2"],
    ] as const) {
      costly.do(ask(id, of, a));
    }
    expect(reasonOf(costly, "a2")?.message).toContain(
      "a holds 12 of its quota of 12 cost (job-a1, job-a3), 10",
    );
    expect(costly.held("a3")).toBeDefined();
    costly.do(release("a3"));
    expect(costly.held("a2")).toBeUndefined();
    costly.do(release("a1"));
    expect(costly.held("a2")).toBeDefined();
  });

  test("that opens by a release in another pool grants at once", () => {
    const dear = [pool("x", 1, { cost: 5 }), pool("y", 1, { cost: 5 })];
    const made = lending(dear, { a: { costMax: 5 } });
    made.do(ask("a1", "x", a));
    made.do(ask("a2", "y", a));
    made.do(release("a1"));
    expect(made.held("a2")).toBeDefined();
  });

  test("that becomes smaller takes nothing, and one that becomes larger grants at once", () => {
    const pools = [pool("aws", 5)];
    const made = lending(pools, { a: { quotas: [quota("aws", 2)] } });
    for (const id of ["a1", "a2", "a3"]) made.do(ask(id, "aws", a));
    const change = (max: number) => {
      const quotas = { a: { quotas: [quota("aws", max)] } };
      return made.do({ type: "configure", pools, spaces: spaces(quotas) });
    };
    change(1);
    expect([made.held("a1"), made.held("a2")]).toEqual([["aws-1"], ["aws-2"]]);
    change(3);
    expect(made.held("a3")).toBeDefined();
  });

  test("applies to resources that are taken by name", () => {
    const made = lending([pool("aws", 2)], { a: { quotas: [quota("aws", 1)] } });
    made.do(ask("a1", "aws", a));
    const taken = made.outcome({
      type: "take",
      holder: "me",
      space: a,
      resources: ["aws-2" as never],
      ids: ["t" as RequestId],
      state: "free",
      into: "busy",
    });
    expect(taken).toMatchObject({ type: "refused", refusal: { code: "none_free" } });
  });
});

describe("the policy of a space", () => {
  test("lists the pools that it may use", () => {
    const made = lending([pool("aws-1", 1), pool("gcp", 1)], { a: { pools: ["aws-*"] } });
    expect(made.outcome(ask("a1", "aws-1", a))).toMatchObject({ type: "granted" });
    expect(made.outcome(ask("a2", "gcp", a))).toEqual({
      type: "refused",
      refusal: { code: "pool_not_allowed", space: "a", pool: "gcp" },
    });
  });

  test("bounds waiting requests, priority and lifetime", () => {
    const policy = { waitingMax: 1, priorityMax: 3, lifetimeMs: 1_000 };
    const made = lending([pool("aws", 1)], { a: policy });
    made.do(ask("a1", "aws", a, { priority: 9, lifetimeMs: 5_000 }));
    const lease = made.state.leases.get("a1" as RequestId);
    expect(lease).toMatchObject({ endsAt: 1_000, ask: { priority: 3 } });
    expect(made.outcome(ask("a2", "aws", a))).toMatchObject({ type: "waiting" });
    expect(made.outcome(ask("a3", "aws", a))).toEqual({
      type: "refused",
      refusal: { code: "too_many_waiting", space: "a", max: 1 },
    });
    made.do(leave("a2"));
    expect(made.outcome(ask("a3", "aws", a))).toMatchObject({ type: "waiting" });
  });

  test("must exist, if there is none for all others", () => {
    const made = new Lending(pool("aws", 1));
    const only = { ...spaces({ payments: {} }), others: null };
    made.do({ type: "configure", pools: [pool("aws", 1)], spaces: only });
    expect(made.outcome(ask("x", "aws", "payment" as SpaceName))).toEqual({
      type: "refused",
      refusal: { code: "space_unknown", space: "payment" },
    });
    expect(made.outcome(ask("y", "aws", "payments" as SpaceName))).toMatchObject({
      type: "granted",
    });
  });
});

describe("amounts of a shared pool", () => {
  const hosts = (): PoolSpec => ({
    ...pool("vsphere", [], { placement: { strategy: "pack" }, patienceMs: 0 }),
    members: ["hv-1", "hv-2"].map((name, index) => ({
      name: name as never,
      labels: {},
      room: { index, capacity: { vcpus: 48 } },
    })),
  });
  const vcpus = (id: string, amount: number, space: SpaceName): Command => {
    const items = [{ pool: "vsphere" as PoolName, count: 1, amount: { vcpus: amount } }];
    const asked = { holder: `job-${id}`, items, space };
    return { type: "acquire", id: id as RequestId, ask: asked, waitMs: 0 };
  };

  test("count by dimension, and not by the number of claims", () => {
    const made = lending([hosts()]);
    made.do(vcpus("a1", 48, a));
    for (let index = 0; index < 5; index++) made.do(vcpus(`b${index}`, 1, b));
    expect([shareOf(made, a), shareOf(made, b)]).toEqual([0.5, 5 / 96]);
  });

  test("are kept for nobody whose quota is used up", () => {
    const made = lending([hosts()], { a: { quotas: [quota("vsphere", 60, "vcpus")] } });
    made.do(vcpus("a1", 40, a));
    made.do(acquire("x", "vsphere"));
    made.do(vcpus("b1", 30, b));
    // 30 more would take `a` to 70 of 60. Its patience is over, and hv-2 has 18 left.
    made.do(vcpus("a2", 30, a));
    made.tickAt(10);
    made.do(vcpus("b2", 18, b));
    expect(made.held("b2")).toEqual(["hv-2"]);
    expect(reasonOf(made, "a2")?.message).toBe(
      "a holds 40 of its quota of 60 vcpus of vsphere (job-a1), 30 needed; next of its space",
    );
  });

  test("a pool that leaves keeps its size while it is held", () => {
    const made = lending([pool("aws", 4), pool("gcp", 1)]);
    made.do(ask("a1", "aws:2", a));
    made.do({ type: "configure", pools: [pool("gcp", 1)] });
    expect(shareOf(made, a)).toBe(1);
    made.do({ type: "configure", pools: [pool("gcp", 1), pool("aws", 4)] });
    expect(shareOf(made, a)).toBe(0.5);
  });
});

test("a lease by name from before there were spaces stays with its holder", () => {
  const made = lending([pool("aws", 1)]);
  const item = { pool: "aws" as PoolName, count: 1, into: "leased" };
  const asked = { holder: "job/1", items: [item], ttlMs: null, byName: true as const };
  made.do({ type: "acquire", id: "old" as RequestId, ask: asked, waitMs: 0, nowOnly: true });
  const by = { holder: "job/1", space: a, resource: "aws-1" as never, state: "leased" };
  expect(made.outcome({ type: "renew-held", ...by })).toEqual({ type: "done" });
  expect(made.outcome({ type: "release-held", ...by, state: "free" })).toEqual({ type: "done" });
});

describe("a request that its quota holds back", () => {
  test("lets others pass, also if hundreds of larger ones wait", () => {
    const made = lending([pool("aws", 10)], { a: { quotas: [quota("aws", 3)] } });
    made.do(acquire("rest", "aws:3"));
    made.do(ask("a0", "aws:2", a));
    for (let index = 1; index <= 150; index++) made.do(ask(`a${index}`, "aws:2", a));
    made.do(ask("b1", "aws", b));
    expect(made.held("b1")).toBeDefined();
    // Within its own space nobody overtakes it.
    expect(made.outcome(ask("small", "aws", a))).toMatchObject({ type: "waiting" });
  });

  test("does not hide the next request from a shared limit", () => {
    const parent = { parent: "account" as PoolName };
    const pools = [pool("account", 0, { limit: 3 }), pool("x", 3, parent), pool("y", 3, parent)];
    const made = lending(pools, { a: { quotas: [quota("x", 1)] } });
    made.do(ask("a1", "x", a));
    made.do(ask("a2", "x", a));
    made.do(acquire("y1", "y"));
    made.do(ask("b1", "x:2", b));
    made.do(acquire("y2", "y"));
    made.do(acquire("y3", "y"));
    made.do(release("y1"));
    expect([made.held("b1"), made.held("y2"), made.held("y3")]).toEqual([
      ["x-2", "x-3"],
      undefined,
      undefined,
    ]);
  });

  test("makes no dynamic resource", () => {
    const dynamic = { min: 0, max: 5, state: "free", lifespanMs: null };
    const made = lending([pool("dyn", [], { dynamic })], { a: { quotas: [quota("dyn", 1)] } });
    for (const id of ["a1", "a2", "a3"]) made.do(ask(id, "dyn", a));
    expect(made.state.resources.size).toBe(1);
  });

  test("holds back no cleaner of its space", () => {
    const made = lending([pool("aws", 2)], { a: { quotas: [quota("aws", 1)] } });
    made.do(ask("a1", "aws", a));
    const item = { pool: "aws" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    const cleaner = { holder: "cleaner", space: a, items: [item], ttlMs: 1_000 };
    made.do({ type: "acquire", id: "c" as RequestId, ask: cleaner, waitMs: 0 });
    const dirty = { resource: "aws-2" as never, change: { state: "dirty" } };
    made.do({ type: "change-resource", ...dirty, reason: { by: "x", why: "" } });
    expect(made.held("c")).toEqual(["aws-2"]);
  });
});

test("a reload removes the requests of a space that is gone or may no longer use the pool", () => {
  const pools = [pool("aws", 1), pool("gcp", 1)];
  const made = lending(pools, { a: {}, b: {} });
  for (const wanted of ["aws", "gcp"]) {
    made.do(acquire(wanted, wanted));
    made.do(ask(`a-${wanted}`, wanted, a));
    made.do(ask(`b-${wanted}`, wanted, b));
  }
  const only = { spaces: spaces({ b: { pools: ["aws"] } }).spaces, others: null };
  made.do({ type: "configure", pools, spaces: only });
  expect([made.line("aws"), made.line("gcp")]).toEqual([["b-aws"], []]);
  expect([made.end("a-aws"), made.end("b-gcp")]).toEqual(["unsatisfiable", "unsatisfiable"]);
});

test("a refused refresh releases nothing", () => {
  const made = lending([pool("aws", 1)], { a: { waitingMax: 1 } });
  made.do(ask("a1", "aws", a));
  made.do(ask("a2", "aws", a));
  const refresh = { type: "refresh", id: "a1" as RequestId, next: "a3" as RequestId } as const;
  expect(made.outcome({ ...refresh, waitMs: 0 })).toMatchObject({
    type: "refused",
    refusal: { code: "too_many_waiting" },
  });
  expect(made.held("a1")).toEqual(["aws-1"]);
});

test("resources are taken by name only from pools that the space may use", () => {
  const made = lending([pool("aws", 1)], { a: { pools: ["gcp*"] } });
  const take = { holder: "me", resources: ["aws-1" as never], ids: ["t" as RequestId] };
  expect(
    made.outcome({ type: "take", ...take, space: a, state: "free", into: "leased" }),
  ).toMatchObject({ type: "refused", refusal: { code: "pool_not_allowed" } });
});

test("the waiting requests of a space for one pool have 64 priorities at the most", () => {
  const made = lending([pool("aws", 1), pool("gcp", 1)]);
  for (const name of ["aws", "gcp"]) made.do(ask(`b-${name}`, name, b));
  for (let priority = 0; priority < 64; priority++) {
    made.do(ask(`a-${priority}`, "aws", a, { priority }));
  }
  expect(made.outcome(ask("more", "aws gcp", a, { priority: -1 }))).toMatchObject({
    refusal: { code: "too_many_priorities", space: "a", pool: "aws", max: 64 },
  });
  expect(made.outcome(ask("same", "aws", a, { priority: 5 })).type).toBe("waiting");
  expect(made.outcome(ask("other", "gcp", a, { priority: -1 })).type).toBe("waiting");
  expect(made.outcome(ask("others", "aws", b, { priority: -1 })).type).toBe("waiting");
});

test("a request that its quota held back is granted from what was freed meanwhile", () => {
  const hosts = capacityPool({ one: { capacity: { vcpus: 8 } }, two: { capacity: { vcpus: 8 } } });
  const made = lending([hosts], { a: { quotas: [quota("vsphere", 8, "vcpus")] } });
  const amount = (id: string, vcpus: number, space: SpaceName, more: object = {}) =>
    made.do(want(id, { amount: { vcpus }, ...more }, { space }));
  amount("b-one", 8, b, { resource: "one" });
  amount("a-two", 2, a, { resource: "two" });
  amount("b-two", 5, b, { resource: "two" });
  amount("b-small", 1, b, { resource: "two" });
  for (const id of ["a-1", "a-2"]) amount(id, 4, a);
  made.do(release("b-small"));
  made.do(release("b-one"));
  expect([made.held("a-1"), made.held("a-2")]).toEqual([["one"], undefined]);
  // It fits on the first host, which was freed before.
  made.do(release("a-two"));
  expect(made.held("a-2")).toEqual(["one"]);
});
