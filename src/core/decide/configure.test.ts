import { describe, expect, test } from "vitest";
import { fingerprint } from "../../../sim/invariants.ts";
import type { PoolSpec } from "../model/policy.ts";
import { unlistedResources } from "./configure.ts";
import { acquire, change, Lending, pool, release } from "./lending.suite.ts";

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

function labelled(name: string, labels: Record<string, string>): PoolSpec {
  const spec = pool(name, 1);
  return { ...spec, members: spec.members.map((member) => ({ ...member, labels })) };
}

describe("configure()", () => {
  test("makes pools and resources, ready to be lent", () => {
    const lending = new Lending(labelled("aws", { region: "eu" }));
    expect(lending.events).toMatchObject([
      { type: "pool-defined", pool: "aws", policy: { onRelease: "free" } },
      { type: "resource-added", pool: "aws", resource: "aws-1", labels: { region: "eu" } },
    ]);
    expect(lending.resource("aws-1")).toMatchObject({ state: "free", labels: { region: "eu" } });
  });

  test("gives new resources their user data, and leaves that of existing ones alone", () => {
    const seeded = (key: string): PoolSpec => {
      const spec = pool("aws", 1);
      return { ...spec, members: spec.members.map((each) => ({ ...each, userData: { key } })) };
    };
    const lending = new Lending(seeded("first"));
    expect(lending.resource("aws-1").userData).toEqual({ key: "first" });
    expect(lending.configure(seeded("second")).events).toEqual([]);
    lending.do(change("aws-1", { userData: { key: "changed" } }));
    lending.configure(seeded("second"));
    expect(lending.resource("aws-1").userData).toEqual({ key: "changed" });
  });

  test("changes nothing, when nothing has changed", () => {
    const file = [labelled("aws", { region: "eu" }), pool("gcp", 3, { holdMs: 5 })];
    const lending = new Lending(...file);
    lending.outcome(acquire("a", "aws"), change("gcp-1", { labels: { x: "y" }, drained: true }));
    expect(lending.configure(...structuredClone(file)).events).toEqual([]);
  });

  test("grows a pool, and lends the new resources to waiting requests", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    lending.configure(pool("aws", 2));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("removes resources at once that are not held", () => {
    const lending = new Lending(pool("aws", 3));
    expect(types(lending.configure(pool("aws", 1)).events)).toEqual([
      "resource-removed",
      "resource-removed",
    ]);
    expect([...lending.state.resources.keys()]).toEqual(["aws-1"]);
  });

  test("has less to do after a part was removed, and ends in the same state", () => {
    const lendSome = () => {
      const lending = new Lending(pool("aws", 9), pool("gcp", 2), pool("gone", 3));
      lending.outcome(acquire("a", "aws:8"), acquire("b", "gone"), acquire("c", "gcp"));
      lending.outcome(release("a"), acquire("d", "aws:2"), change("aws-9", { drained: true }));
      return lending;
    };
    const file = [pool("aws", 1), pool("gcp", 2)];
    const [once, inSteps] = [lendSome(), lendSome()];
    once.configure(...file);
    const names = unlistedResources(inSteps.state, file);
    expect(names).toHaveLength(11);
    for (const name of names) inSteps.do({ type: "remove-resources", names: [name] });
    expect(unlistedResources(inSteps.state, file)).toEqual(["aws-9", "gone-1"]); // They are held.
    expect(types(inSteps.configure(...file).events)).toEqual(["pool-retired"]);
    expect(fingerprint(inSteps.state)).toBe(fingerprint(once.state));
  });

  test("leaves dynamic resources out of what can be removed before", () => {
    const dynamic = pool("aws", 0, {
      dynamic: { min: 1, max: 2, lifespanMs: null, state: "free" },
    });
    const lending = new Lending(dynamic, pool("gcp", 1));
    expect([...lending.state.resources.keys()]).toHaveLength(2);
    expect(unlistedResources(lending.state, [dynamic])).toEqual(["gcp-1"]);
  });

  test("takes nothing from a holder: a held resource leaves when it is released", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws:2"));
    expect(types(lending.configure(pool("aws", 1)).events)).toEqual(["resource-retired"]);
    expect(lending.held("a")).toEqual(["aws-1", "aws-2"]);
    expect(types(lending.do(release("a")).events)).toEqual(["lease-ended", "resource-removed"]);
    expect([...lending.state.resources.keys()]).toEqual(["aws-1"]);
  });

  test("retires once, however often the file is read", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws:2"));
    lending.configure(pool("aws", 1));
    expect(lending.configure(pool("aws", 1)).events).toEqual([]);
  });

  test("keeps a resource that is listed again before its release", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    lending.configure(pool("aws", 0));
    expect(types(lending.configure(pool("aws", 1)).events)).toEqual(["resource-kept"]);
    lending.do(release("a"));
    expect(lending.outcome(acquire("b", "aws"))).toMatchObject({ type: "granted" });
  });

  test("does not lend a retired resource", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.do(acquire("a", "aws"));
    lending.configure(pool("aws", 0), pool("gcp", 1));
    expect(lending.outcome(acquire("b", "aws"))).toMatchObject({ refusal: { code: "never_fits" } });
  });

  test("gives a pool another policy, which holds for leases from then on", () => {
    const lending = new Lending(pool("aws", 2, { ttlMs: 1_000 }));
    lending.do(acquire("a", "aws"));
    expect(types(lending.configure(pool("aws", 2, { ttlMs: 9_000 })).events)).toEqual([
      "pool-defined",
    ]);
    expect(lending.outcome(acquire("b", "aws"))).toMatchObject({ lease: { ttlMs: 9_000 } });
    lending.tickAt(1_000);
    expect([lending.end("a"), lending.end("b")]).toEqual(["expired", undefined]);
  });

  test("a shorter patience also applies to requests that already wait", () => {
    const slow = { patienceMs: 9_000 };
    const lending = new Lending(pool("aws", 1, slow), pool("gcp", 1, slow));
    lending.outcome(acquire("g", "gcp"), acquire("both", "aws gcp"));
    lending.now = 10 as typeof lending.now;
    lending.configure(pool("aws", 1, { patienceMs: 5 }), pool("gcp", 1, slow));
    expect(lending.outcome(acquire("small", "aws"))).toMatchObject({ type: "waiting" });
  });

  test("sets labels from the file, and drops those of an operator", () => {
    const lending = new Lending(labelled("aws", { region: "eu" }));
    lending.do(change("aws-1", { labels: { region: "us", extra: "1" } }));
    expect(lending.configure(labelled("aws", { region: "ap" })).events).toEqual([
      { type: "resource-relabelled", resource: "aws-1", labels: { region: "ap" } },
    ]);
    expect(lending.resource("aws-1").labels).toEqual({ region: "ap" });
  });
});

describe("configure() without a pool", () => {
  test("removes it with all resources that are not held", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    expect(types(lending.configure(pool("gcp", 1)).events)).toEqual([
      "resource-removed",
      "pool-retired",
      "pool-removed",
    ]);
    expect(lending.outcome(acquire("a", "aws"))).toMatchObject({
      refusal: { code: "pool_not_found" },
    });
  });

  test("keeps it until its last resource is released", () => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    lending.configure(pool("gcp", 1));
    expect(lending.outcome(acquire("c", "aws"))).toMatchObject({
      refusal: { code: "pool_not_found", known: ["gcp"] },
    });
    expect(types(lending.do(release("a")).events)).toEqual(["lease-ended", "resource-removed"]);
    expect(types(lending.do(release("b")).events)).toEqual([
      "lease-ended",
      "resource-removed",
      "pool-removed",
    ]);
    expect([...lending.state.pools.keys()]).toEqual(["gcp"]);
  });

  test("removes it once, when one lease had several of it", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws:2"));
    lending.configure();
    expect(types(lending.do(release("a")).events)).toEqual([
      "lease-ended",
      "resource-removed",
      "resource-removed",
      "pool-removed",
    ]);
  });

  test("brings it back with its holders, when it is listed again in time", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    lending.configure();
    expect(types(lending.configure(pool("aws", 1)).events)).toEqual([
      "pool-defined",
      "resource-kept",
    ]);
    expect(lending.outcome(acquire("b", "aws"))).toMatchObject({ type: "waiting" });
    lending.do(release("a"));
    expect(lending.held("b")).toEqual(["aws-1"]);
  });

  test("removes its waiting requests as unsatisfiable", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("both", "gcp aws"));
    const { events } = lending.configure(pool("gcp", 1));
    expect(events).toContainEqual({ type: "request-left", id: "b", why: "unsatisfiable" });
    expect(events).toContainEqual({ type: "request-left", id: "both", why: "unsatisfiable" });
    expect([lending.end("b"), lending.line("gcp")]).toEqual(["unsatisfiable", []]);
  });
});

describe("configure() with less", () => {
  test("removes only requests for more than there will ever be", () => {
    const lending = new Lending(pool("aws", 3));
    lending.outcome(acquire("a", "aws:3"), acquire("big", "aws:3"), acquire("small", "aws:2"));
    lending.configure(pool("aws", 2));
    expect([lending.end("big"), lending.line("aws")]).toEqual(["unsatisfiable", ["small"]]);
    lending.do(release("a"));
    expect(lending.held("small")).toEqual(["aws-1", "aws-2"]);
  });

  test("grants the requests behind a removed one", () => {
    const lending = new Lending(pool("aws", 3));
    lending.outcome(acquire("a", "aws"), acquire("big", "aws:3"), acquire("small", "aws"));
    lending.configure(pool("aws", 2));
    expect(lending.held("small")).toEqual(["aws-2"]);
  });
});

describe("configure() with a resource in another pool", () => {
  const before = [pool("aws", ["x", "y"]), pool("gcp", ["z"])];
  const after = [pool("aws", ["y"]), pool("gcp", ["z", "x"])];

  test("moves it at once if it is not held", () => {
    const lending = new Lending(...before);
    expect(lending.configure(...after).events).toEqual([
      { type: "resource-moved", resource: "x", pool: "gcp", labels: {} },
    ]);
    expect(lending.resource("x").pool.name).toBe("gcp");
  });

  test("moves it when it is released, and serves its new pool", () => {
    const lending = new Lending(...before);
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("next", "gcp"));
    expect(lending.configure(...after).events).toEqual([
      { type: "resource-retired", resource: "x", movesTo: { pool: "gcp", labels: {} } },
    ]);
    expect(lending.resource("x").pool.name).toBe("aws");
    lending.do(release("a"));
    expect(lending.resource("x").pool.name).toBe("gcp");
    expect(lending.held("next")).toEqual(["x"]);
  });

  test("follows a second change while it is held", () => {
    const lending = new Lending(...before);
    lending.do(acquire("a", "aws"));
    lending.configure(...after);
    expect(lending.configure(...after).events).toEqual([]);
    expect(types(lending.configure(...before).events)).toEqual(["resource-kept"]);
    lending.do(release("a"));
    expect(lending.resource("x").pool.name).toBe("aws");
  });

  test("drops it, when the pool that it was to go to is dropped", () => {
    const lending = new Lending(...before);
    lending.do(acquire("a", "aws"));
    lending.configure(...after);
    lending.configure(pool("aws", ["y"]));
    lending.do(release("a"));
    expect([...lending.state.resources.keys()]).toEqual(["y"]);
  });

  test("moves the last one out of a pool that goes", () => {
    const lending = new Lending(pool("aws", ["x"]), pool("gcp", ["z"]));
    lending.do(acquire("a", "aws"));
    lending.configure(pool("gcp", ["z", "x"]));
    expect(types(lending.do(release("a")).events)).toEqual([
      "lease-ended",
      "resource-moved",
      "pool-removed",
    ]);
    expect([...lending.state.pools.keys()]).toEqual(["gcp"]);
  });

  test("leaves it as dirty as it would have been, when its holder vanished", () => {
    const strict = { onExpire: "dirty", ttlMs: 1_000 };
    const lending = new Lending(pool("aws", ["x", "y"], strict), pool("gcp", ["z"]));
    lending.do(acquire("a", "aws"));
    lending.configure(pool("aws", ["y"], strict), pool("gcp", ["z", "x"]));
    lending.tickAt(1_000);
    expect(lending.resource("x")).toMatchObject({ state: "dirty", pool: { name: "gcp" } });
  });

  test("keeps the lock-delay of the pool that it was lent from", () => {
    const strict = { ttlMs: 1_000, lockDelayMs: 5_000 };
    const lending = new Lending(pool("aws", ["x", "y"], strict), pool("gcp", ["z"]));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"));
    lending.do(acquire("next", "gcp", { ttlMs: 60_000 }));
    lending.configure(pool("aws", ["y"], strict), pool("gcp", ["z", "x"]));
    lending.tickAt(1_000);
    expect(lending.resource("x").state).toBe("cooling");
    lending.tickAt(6_000);
    expect(lending.held("next")).toEqual(["x"]);
  });

  test.each([
    { state: "dirty" },
    { state: "quarantined", note: "why" },
    { drained: true },
    { userData: { k: "v" } },
  ])("leaves it %j, when nobody holds it", (wish) => {
    const lending = new Lending(...before);
    lending.do(change("x", wish));
    lending.configure(...after);
    expect(lending.resource("x")).toMatchObject({ ...wish, pool: { name: "gcp" } });
  });

  test("gives it the labels that it is listed with there", () => {
    const lending = new Lending(...before);
    lending.do(change("x", { labels: { by: "hand" } }));
    const moved = pool("gcp", ["z", "x"]);
    const members = moved.members.map((member) => ({ ...member, labels: { region: "eu" } }));
    lending.configure(pool("aws", ["y"]), { ...moved, members });
    expect(lending.resource("x").labels).toEqual({ region: "eu" });
  });
});
