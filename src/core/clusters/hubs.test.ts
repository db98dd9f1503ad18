import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { acquire, operator } from "../decide/lending.suite.ts";
import { shownState } from "../model/state.ts";
import { clusterPool, minutes } from "./clusters.suite.ts";
import { HubLending, hub } from "./hubs.suite.ts";

const hubs = ["east", "west"];
const both = { hubs };

describe("placement", () => {
  test("spreads clusters by the free share of each hub, and keeps to their limits", () => {
    const lending = new HubLending([hub("east", 4), hub("west", 2)], []);
    lending.define(clusterPool("ocp", { size: 9, ...both }));
    const counts = [...lending.state.hubs.values()].map(({ clusters }) => clusters.size);
    expect(counts).toEqual([4, 2]);
    expect(lending.placed()).toMatch(
      /^ocp-1 creating east, ocp-2 creating west, ocp-3 creating east, ocp-4 creating east/,
    );
  });

  test("plans nothing on a hub that no probe has answered for", () => {
    const pools = [clusterPool("ocp", { size: 1, ...both })];
    const lending = new HubLending([hub("east"), hub("west")], pools, { probed: false });
    expect(lending.placed()).toBe("");
    lending.probe("west");
    expect(lending.placed()).toBe("ocp-1 creating west");
  });

  test.each([
    ["another hub's kinds", { kinds: ["HostedCluster.hypershift.openshift.io"] }],
    ["no kinds", { kinds: [] }],
  ])("leaves out a hub with %s", (_, findings) => {
    const needs = ["ClusterClaim.hive.openshift.io"];
    const pools = [clusterPool("ocp", { size: 1, ...both, needs })];
    const lending = new HubLending([hub("east"), hub("west")], pools, { probed: false });
    lending.probe("east", findings);
    expect(lending.placed()).toBe("");
    lending.probe("west", { kinds: needs });
    expect(lending.placed()).toBe("ocp-1 creating west");
  });

  test("prefers a hub whose back end has clusters ready, as many as it has", () => {
    const pools = [clusterPool("ocp", { ...both })];
    const lending = new HubLending([hub("east"), hub("west")], pools);
    lending.probe("west", { ready: { "ocp-aws": 1 } });
    lending.do(acquire("a", "ocp"));
    lending.do(acquire("b", "ocp"));
    expect(lending.placed()).toBe("ocp-1 creating west, ocp-2 creating east");
  });

  test("avoids a hub on which creations have failed, for an hour", () => {
    const lending = new HubLending([hub("east", 8), hub("west", 4)], [clusterPool("ocp", both)]);
    for (const id of ["a", "b", "c"]) {
      lending.do(acquire(id, "ocp"));
      lending.do({ type: "leave", id: id as never, why: "cancelled" });
    }
    for (let round = 0; round < 3; round++) {
      lending.do(acquire(`f${round}`, "ocp"));
      const id = lending.take("creating");
      lending.finish(id ?? "", { state: "broken", failure: "no quota" });
      lending.do({ type: "leave", id: `f${round}` as never, why: "cancelled" });
      lending.workAll();
    }
    lending.workAll();
    lending.do(acquire("next", "ocp"));
    expect(lending.placed()).toMatch(/creating west$/);
    lending.do({ type: "leave", id: "next" as never, why: "cancelled" });
    lending.workAll();
    lending.now = minutes(90);
    lending.do(acquire("later", "ocp"));
    expect(lending.placed()).toMatch(/creating east$/);
  });

  test("explains why no hub can be used", () => {
    const lending = new HubLending([hub("east", 1), hub("west")], [clusterPool("ocp", both)]);
    lending.set("west", "cordoned");
    lending.do(acquire("a", "ocp"));
    lending.do(acquire("b", "ocp"));
    const outcome = lending.outcome({ type: "keep-waiting", id: "b" as never, waitMs: 0 });
    expect(outcome).toMatchObject({ type: "waiting" });
    expect(JSON.stringify(outcome)).toContain("east is full (1/1); west: it is cordoned");
  });

  test("refuses more clusters at once than all hubs may have", () => {
    const lending = new HubLending([hub("east", 2), hub("west", 2)], [clusterPool("ocp", both)]);
    expect(lending.outcome(acquire("a", "ocp:5"))).toMatchObject({
      refusal: { code: "never_fits", asked: 5, size: 4 },
    });
  });
});

describe("versions", () => {
  const release = "quay.io/ocp-release:$" + "{parameters.version}-x86_64";
  const pools = [clusterPool("ocp", { ...both, release, parameters: { version: "4.20.1" } })];
  const asking = (id: string, version: string) => {
    const item = { pool: "ocp" as never, count: 1, parameters: { version } };
    const ask = { holder: "h", items: [item] };
    return { type: "acquire", id: id as never, ask, waitMs: 0 } as const;
  };

  test("I5: a version that no hub makes is refused at once, with the nearest", () => {
    const lending = new HubLending([hub("east"), hub("west")], pools);
    lending.probe("east", { versions: ["4.18", "4.19"] });
    lending.probe("west", { versions: ["4.20"] });
    expect(lending.outcome(asking("a", "4.12.9"))).toMatchObject({
      refusal: { code: "version_unsupported", known: ["4.18", "4.19", "4.20"], nearest: "4.18" },
    });
    expect(lending.outcome(asking("b", "4.20.3")).type).toBe("waiting");
    expect(lending.outcome(asking("c", "4.19.3")).type).toBe("waiting");
    expect(lending.placed()).toBe("ocp-1 creating west, ocp-2 creating east");
  });

  test("a hub that does not tell its versions may make all of them", () => {
    const lending = new HubLending([hub("east"), hub("west")], pools);
    lending.probe("west", { versions: ["4.20"] });
    expect(lending.outcome(asking("a", "4.12.9")).type).toBe("waiting");
    expect(lending.placed()).toBe("ocp-1 creating east");
  });
});

describe("a hub that cannot be reached", () => {
  const pools = [clusterPool("ocp", { size: 2, running: 2, ...both })];

  test("D8: freezes what is begun there: it is not made again elsewhere, and no time passes", () => {
    const lending = new HubLending([hub("east", 4), hub("west", 4)], [clusterPool("ocp", both)]);
    lending.do(acquire("a", "ocp", { ttlMs: minutes(1_000) }));
    const work = lending.take("creating");
    expect(lending.placed()).toBe("ocp-1 creating east");
    lending.now = minutes(10);
    lending.cut("east");
    lending.finish(work ?? "", { failure: "connect ECONNREFUSED" });
    expect(lending.take("creating")).toBeUndefined();
    lending.tickAt(minutes(600));
    expect(lending.placed()).toBe("ocp-1 creating east");
    lending.do(acquire("b", "ocp"));
    expect(lending.placed()).toBe("ocp-1 creating east, ocp-2 creating west");
    lending.probe("east");
    lending.do({ type: "tick" });
    expect(lending.placed()).toBe("ocp-1 creating east, ocp-2 creating west");
    expect(lending.cluster("ocp-1").deadlineAt).toBe(minutes(600 + 50));
    lending.workAll();
    expect([lending.held("a"), lending.held("b")].flat().sort()).toEqual(["ocp-1", "ocp-2"]);
  });

  test("does not end the lease of a worker that is at work there, until it answers", () => {
    const lending = new HubLending([hub("east"), hub("west")], [clusterPool("ocp", both)]);
    lending.do(acquire("a", "ocp"));
    const work = lending.take("creating") ?? "";
    lending.cut("east");
    lending.tickAt(minutes(90));
    expect(lending.held(work)).toEqual(["ocp-1"]);
    lending.probe("east");
    expect(lending.state.leases.get(work as never)?.endsAt).toBe(minutes(150));
    lending.tickAt(minutes(150));
    expect(lending.stock()).toContain("ocp-1 destroying");
  });

  test("lends nothing of it, and makes what requests need elsewhere", () => {
    const lending = new HubLending([hub("east", 8), hub("west", 4)], pools);
    lending.workAll();
    expect(lending.placed()).toBe("ocp-1 free east, ocp-2 free east");
    lending.cut("east");
    expect(shownState(lending.resource("ocp-1"))).toBe("unreachable");
    lending.do(acquire("a", "ocp"));
    expect(lending.held("a")).toBeUndefined();
    expect(lending.placed()).toMatch(
      /ocp-3 creating west, ocp-4 creating west, ocp-5 creating west$/,
    );
    lending.probe("east");
    expect(lending.held("a")).toEqual(["ocp-1"]);
  });

  test("does not wake what was being put to sleep there", () => {
    const asleep = { size: 1, running: 0, ...both };
    const lending = new HubLending(
      [hub("east", 8), hub("west", 4)],
      [clusterPool("ocp", { ...asleep, running: 1 })],
    );
    lending.workAll();
    lending.define(clusterPool("ocp", asleep));
    lending.cut("east");
    lending.do(acquire("a", "ocp"));
    expect(lending.placed()).toMatch(/^ocp-1 stopping east, ocp-2 creating west/);
  });

  test("destroys what was used there once, after it answers again", () => {
    const lending = new HubLending([hub("east"), hub("west")], [clusterPool("ocp", both)]);
    lending.do(acquire("a", "ocp"));
    lending.workAll();
    lending.cut("east");
    lending.do({ type: "release", id: "a" as never });
    expect(lending.placed()).toBe("ocp-1 destroying east");
    expect(lending.take("destroying")).toBeUndefined();
    lending.probe("east");
    lending.workAll();
    expect(lending.placed()).toBe("");
  });

  test("is given up when an operator drains it", () => {
    const lending = new HubLending([hub("east", 4), hub("west", 2)], [clusterPool("ocp", both)]);
    lending.do(acquire("a", "ocp"));
    lending.cut("east");
    lending.set("east", "draining");
    expect(lending.placed()).toBe("ocp-1 creating east, ocp-2 creating west");
    lending.probe("east");
    lending.workAll();
    expect(lending.placed()).toMatch(/busy west$/);
  });

  test("a snapshot keeps it frozen", () => {
    const lending = new HubLending([hub("east"), hub("west")], pools);
    lending.workAll();
    lending.cut("east", "no route to host");
    lending.set("west", "cordoned");
    const frozen = freeze(lending.state);
    const thawed = thaw(JSON.parse(JSON.stringify(frozen)));
    expect(freeze(thawed)).toEqual(frozen);
    expect(thawed.hubs.get("east")?.outage?.error).toBe("no route to host");
    expect(thawed.hubs.get("east")?.clusters.size).toBe(2);
    expect(thawed.pools.get("ocp" as never)?.hubs?.size).toBe(2);
  });
});

describe("operators", () => {
  test("cordon: new clusters go elsewhere, and those that exist stay and are lent", () => {
    const pools = [clusterPool("ocp", { size: 1, running: 1, ...both })];
    const lending = new HubLending([hub("east", 4), hub("west", 2)], pools);
    lending.workAll();
    lending.set("east", "cordoned");
    lending.do(acquire("a", "ocp"));
    expect(lending.held("a")).toEqual(["ocp-1"]);
    expect(lending.placed()).toBe("ocp-1 busy east, ocp-2 creating west");
    lending.set("east", "active");
    lending.do(acquire("b", "ocp"));
    expect(lending.placed()).toMatch(/ocp-3 creating east$/);
  });

  test("drain: what nobody holds is replaced elsewhere, one at a time", () => {
    const pools = [clusterPool("ocp", { size: 2, running: 2, ...both })];
    const lending = new HubLending([hub("east", 9), hub("west", 2)], pools);
    lending.workAll();
    lending.set("east", "draining");
    expect(lending.placed()).toBe("ocp-1 destroying east, ocp-2 free east, ocp-3 creating west");
    lending.workAll();
    expect(lending.placed()).toBe("ocp-3 free west, ocp-4 free west");
  });

  test("drain: goes on although there is no room elsewhere", () => {
    const pools = [clusterPool("ocp", { size: 2, running: 2, hubs: ["east"] })];
    const lending = new HubLending([hub("east", 9)], pools);
    lending.workAll();
    lending.set("east", "draining");
    lending.workAll();
    expect(lending.placed()).toBe("");
  });

  test("cannot undo what the configuration says, nor set a hub that does not exist", () => {
    const lending = new HubLending([hub("east", 1, { state: "cordoned" })], []);
    expect(lending.set("east", "active")).toMatchObject({ refusal: { code: "hub_configured" } });
    expect(lending.set("eats", "cordoned")).toMatchObject({
      refusal: { code: "hub_not_found", nearest: "east" },
    });
  });

  test("a hub that is cordoned already is not cordoned again, and keeps the first reason", () => {
    const lending = new HubLending([hub("east", 1)], []);
    lending.set("east", "cordoned");
    const { set } = lending.state.hubs.get("east") ?? {};
    lending.set("east", "cordoned", { ...operator, why: "once more" });
    expect(lending.state.hubs.get("east")?.set).toBe(set);
  });

  test("Q10: a hub that left the configuration is forgotten with its last cluster", () => {
    const pools = [clusterPool("ocp", { ...both })];
    const lending = new HubLending([hub("east", 4), hub("west", 2)], pools);
    lending.do(acquire("a", "ocp"));
    lending.workAll();
    const rest = [clusterPool("ocp", { hubs: ["west"] })];
    lending.do({ type: "configure", pools: rest, hubs: [hub("west", 2)] });
    expect([...lending.state.hubs.keys()]).toEqual(["east", "west"]);
    lending.do(acquire("b", "ocp"));
    expect(lending.placed()).toBe("ocp-1 busy east, ocp-2 creating west");
    lending.do({ type: "release", id: "a" as never });
    lending.workAll();
    expect([...lending.state.hubs.keys()]).toEqual(["west"]);
  });
});

describe("a full hub", () => {
  test("stock of one pool gives way to requests of another, and does not come back before them", () => {
    const kept = clusterPool("kept", { size: 2, running: 2, hubs: ["east"] });
    const asked = clusterPool("asked", { hubs: ["east"] });
    const lending = new HubLending([hub("east", 2)], [kept, asked]);
    lending.workAll("kept");
    lending.do(acquire("a", "asked"));
    expect(lending.states("kept")).toEqual({ free: 1, destroying: 1 });
    lending.workAll("kept");
    expect(lending.states("asked")).toEqual({ creating: 1 });
    expect(lending.states("kept")).toEqual({ free: 1 });
    lending.workAll("asked");
    expect(lending.held("a")).toEqual(["asked-3"]);
  });

  test("two requests for two clusters each never keep one each", () => {
    const first = clusterPool("first", { hubs: ["east"] });
    const second = clusterPool("second", { hubs: ["east"] });
    const lending = new HubLending([hub("east", 2)], [first, second]);
    lending.do(acquire("old", "second"));
    lending.do(acquire("a", "first:2"));
    lending.do(acquire("b", "second:2"));
    lending.workAll("second");
    lending.do({ type: "release", id: "old" as never });
    lending.workAll("second");
    lending.workAll("first");
    expect(lending.held("a")).toHaveLength(2);
    lending.do({ type: "release", id: "a" as never });
    lending.workAll("first");
    lending.workAll("second");
    expect(lending.held("b")).toHaveLength(2);
  });

  test("stock moves to another hub if a request can only have its place", () => {
    const kept = clusterPool("kept", { size: 1, running: 1, hubs });
    const asked = clusterPool("asked", { hubs: ["east"] });
    const lending = new HubLending([hub("east", 1), hub("west", 1)], [kept, asked]);
    lending.workAll("kept");
    expect(lending.placed("kept")).toBe("kept-1 free east");
    lending.do(acquire("a", "asked"));
    lending.workAll("kept");
    lending.workAll("asked");
    expect(lending.held("a")).toHaveLength(1);
    expect(lending.placed("kept")).toMatch(/^kept-\d free west$/);
  });

  test("clusters that requests wait for do not give way", () => {
    const first = clusterPool("first", { hubs: ["east"] });
    const second = clusterPool("second", { hubs: ["east"] });
    const lending = new HubLending([hub("east", 1)], [first, second]);
    lending.do(acquire("a", "first"));
    lending.do(acquire("b", "second"));
    expect(lending.states("first")).toEqual({ creating: 1 });
    expect(lending.states("second")).toEqual({});
  });

  test("stock moves, not what a request waits for, although that is not ready yet", () => {
    const kept = clusterPool("kept", { size: 1, running: 1, hubs });
    const first = clusterPool("first", { hubs: ["east"] });
    const second = clusterPool("second", { hubs: ["east"] });
    const lending = new HubLending([hub("east", 2), hub("west", 1)], [kept, first, second]);
    lending.workAll("kept");
    expect(lending.placed("kept")).toBe("kept-1 free east");
    lending.do(acquire("a", "first"));
    lending.do(acquire("b", "second"));
    expect(lending.placed("first")).toBe("first-2 creating east");
    expect(lending.placed("kept")).toMatch(/^kept-1 destroying east/);
  });
});

/** Pools whose sets of hubs overlap only in part: where one is placed decides whether another has a place. */
describe("hubs that pools share in part", () => {
  const any = clusterPool("any", both);
  const east = clusterPool("east-only", { hubs: ["east"] });
  const west = clusterPool("west-only", { hubs: ["west"] });

  test("a request over both pools is placed as a whole: each takes the hub that leaves the other one", () => {
    for (const [one, spec] of [
      ["east-only", east],
      ["west-only", west],
    ] as const) {
      const lending = new HubLending([hub("east", 1), hub("west", 1)], [any, spec]);
      lending.do(acquire("a", `any ${one}`));
      lending.workAll("any");
      lending.workAll(one);
      expect(lending.held("a"), one).toHaveLength(2);
    }
  });

  test("a larger free share does not count against the only place of another", () => {
    const lending = new HubLending([hub("east", 2), hub("west", 3)], [any, west]);
    lending.do(acquire("a", "any:2 west-only:3"));
    expect(lending.placed("any")).toBe("any-1 creating east, any-2 creating east");
    expect(lending.states("west-only")).toEqual({ creating: 3 });
  });

  test("a chain of three sets is placed as a whole", () => {
    const sets = { first: ["a", "b"], second: ["b", "c"], third: ["a"] };
    const names = Object.keys(sets);
    const pools = Object.entries(sets).map(([name, own]) => clusterPool(name, { hubs: own }));
    const lending = new HubLending([hub("a", 1), hub("b", 1), hub("c", 1)], pools);
    lending.do(acquire("x", names.join(" ")));
    const placed = names.map((name) => lending.placed(name));
    expect(placed).toEqual(["first-1 creating b", "second-2 creating c", "third-3 creating a"]);
  });

  test("requests that wait for the same room are placed together when it comes", () => {
    const lending = new HubLending([hub("east", 1), hub("west", 1)], [any, east]);
    lending.set("east", "cordoned");
    lending.set("west", "cordoned");
    lending.do(acquire("a", "any"));
    lending.do(acquire("b", "east-only"));
    lending.set("west", "active");
    lending.set("east", "active");
    expect(lending.placed("any")).toBe("any-1 creating west");
    expect(lending.placed("east-only")).toBe("east-only-2 creating east");
  });

  test("what no placement can give everybody goes to who asked first, and nothing is left idle", () => {
    const lending = new HubLending([hub("east", 1), hub("west", 1)], [any, east]);
    lending.do(acquire("a", "east-only"));
    lending.do(acquire("b", "any:1"));
    lending.do(acquire("c", "any:1"));
    expect(lending.placed("east-only")).toBe("east-only-1 creating east");
    expect(lending.placed("any")).toBe("any-2 creating west");
  });

  test("stock leaves the only place of a request that waits for something else", () => {
    const kept = clusterPool("any", { ...both, size: 1, running: 1 });
    const slow = clusterPool("west-only", { hubs: ["west"], concurrent: 1 });
    const lending = new HubLending([hub("east", 2), hub("west", 4)], [slow]);
    lending.do(acquire("a", "west-only:4"));
    lending.probe("west", { ready: { "ocp-aws": 9 } });
    lending.define(kept, slow);
    expect(lending.placed("any")).toBe("any-2 creating east");
  });

  test("stock does not wait for requests that can use none of its hubs", () => {
    const kept = clusterPool("kept", { hubs: ["east"], size: 1, running: 1 });
    const slow = clusterPool("west-only", { hubs: ["west"], concurrent: 1 });
    const lending = new HubLending([hub("east", 2), hub("west", 4)], [any, slow]);
    lending.do(acquire("a", "west-only:4"));
    lending.define(any, slow, kept);
    expect(lending.placed("kept")).toBe("kept-2 creating east");
  });

  test("of hubs with the same score, the one that fewer pools need is taken", () => {
    const lending = new HubLending([hub("east", 1), hub("west", 1)], [any, east]);
    lending.do(acquire("a", "any"));
    expect(lending.placed("any")).toBe("any-1 creating west");
    lending.do(acquire("b", "east-only"));
    expect(lending.placed("east-only")).toBe("east-only-2 creating east");
  });
});
