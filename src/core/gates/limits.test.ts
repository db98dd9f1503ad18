import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { acquire, change, Lending, pool, release } from "../decide/lending.suite.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { poolIn, under } from "./gates.suite.ts";

/** One account that two pools offer. */
const account = (limit: number) => pool("account", [], { limit });
const two = (limit: number) =>
  new Lending(pool("aws", 3, under("account")), account(limit), pool("set", 3, under("account")));

const used = (lending: Lending, name: string) => poolIn(lending.state, name).used;

describe("pools below one limit", () => {
  test("lend no more together than it allows", () => {
    const lending = two(2);
    lending.outcome(acquire("a", "aws"), acquire("s", "set"), acquire("more", "aws"));
    expect(lending.held("more")).toBeUndefined();
    expect(used(lending, "account")).toBe(2);
    lending.do(release("s"));
    expect(lending.held("more")).toEqual(["aws-2"]);
    expect(used(lending, "account")).toBe(2);
  });

  test("say which limit is in the way", () => {
    const lending = two(1);
    lending.do(acquire("a", "aws"));
    expect(lending.outcome(acquire("b", "set"))).toMatchObject({
      request: {
        reason: {
          code: "limit_reached",
          message: "account limit reached (1/1); next in line",
        },
      },
    });
  });

  test("are served in the order of arrival, over all of them", () => {
    const lending = two(1);
    lending.outcome(acquire("a", "aws"), acquire("s1", "set"), acquire("a2", "aws"));
    lending.outcome(acquire("s2", "set"), release("a"));
    expect(lending.held("s1")).toEqual(["set-1"]);
    lending.do(release("s1"));
    expect(lending.held("a2")).toEqual(["aws-2"]);
    lending.do(release("a2"));
    expect(lending.held("s2")).toEqual(["set-2"]);
  });

  test("keep freed resources for an older request that needs more", () => {
    const lending = two(3);
    lending.outcome(acquire("a", "aws:2"), acquire("big", "set:3"), acquire("small", "aws"));
    expect(lending.held("small")).toBeUndefined();
    lending.do(release("a"));
    expect(lending.held("big")).toEqual(["set-1", "set-2", "set-3"]);
  });

  test("do not wait for a request whose own pool has nothing for it", () => {
    const lending = new Lending(
      account(3),
      pool("aws", 1, under("account")),
      pool("set", 3, under("account")),
    );
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("s", "set"));
    expect(lending.held("s")).toEqual(["set-1"]);
  });

  test("do not wait for a request that also needs a pool outside of them", () => {
    const lending = new Lending(
      ...[account(3), pool("aws", 3, under("account")), pool("set", 3, under("account"))],
      pool("gcp", 1),
    );
    lending.outcome(acquire("a", "aws"), acquire("both", "set:3 gcp"), acquire("s", "aws"));
    expect(lending.held("both")).toBeUndefined();
    expect(lending.held("s")).toEqual(["aws-2"]);
  });

  test("let the others go when what stood before them has nothing to take any more", () => {
    const lending = two(3);
    lending.outcome(acquire("a", "aws"), acquire("big", "set:3"), acquire("small", "aws"));
    expect(lending.held("small")).toBeUndefined();
    lending.do(change("set-1", { drained: true }));
    expect(lending.held("small")).toEqual(["aws-2"]);
  });

  test("count each claim once in a request over both", () => {
    const lending = two(3);
    lending.do(acquire("both", "aws set"));
    expect(used(lending, "account")).toBe(2);
    expect(lending.outcome(acquire("more", "aws set"))).toMatchObject({ type: "waiting" });
    expect(lending.outcome(acquire("one", "aws"))).toMatchObject({ type: "waiting" });
  });

  test("refuse a request that an empty limit would not allow", () => {
    expect(two(3).outcome(acquire("x", "aws:2 set:2"))).toMatchObject({
      refusal: { code: "never_fits", pool: "account", asked: 4, size: 3 },
    });
  });

  test("give to any of them what one has no room for", () => {
    const lending = new Lending(
      pool("a1", [], { limit: 1 }),
      pool("east", 2, under("a1")),
      pool("a2", [], { limit: 1 }),
      pool("west", 2, under("a2")),
    );
    lending.outcome(acquire("x", "east|west"), acquire("y", "east|west"));
    expect([lending.held("x"), lending.held("y")]).toEqual([["east-1"], ["west-1"]]);
    lending.do(acquire("z", "east|west"));
    lending.do(release("y"));
    expect(lending.held("z")).toEqual(["west-2"]);
  });
});

describe("a tree of limits", () => {
  const three = () =>
    new Lending(
      pool("account", [], { limit: 3 }),
      pool("profile", 2, under("account")),
      pool("set", 5, under("profile")),
      pool("other", 5, under("account")),
    );

  test("holds at every level; a pool without a limit allows as many as it has", () => {
    const lending = three();
    lending.outcome(acquire("a", "set"), acquire("b", "profile"), acquire("c", "set"));
    expect(lending.held("c")).toBeUndefined();
    lending.do(acquire("d", "other"));
    expect(lending.held("d")).toEqual(["other-1"]);
    expect(["account", "profile", "set"].map((name) => used(lending, name))).toEqual([3, 2, 1]);
  });

  test("thaws as it was frozen", () => {
    const lending = three();
    lending.outcome(acquire("a", "set"), acquire("b", "other"));
    const thawed = thaw(freeze(lending.state));
    const count = (name: string) => poolIn(thawed, name).used;
    expect(["account", "profile", "set"].map(count)).toEqual([2, 1, 1]);
  });

  test("can be turned upside down by a new file, and counts what is held as it is then", () => {
    const lending = three();
    lending.outcome(acquire("a", "set:2"), acquire("b", "other"));
    lending.configure(
      pool("account", [], { limit: 1, ...under("profile") }),
      pool("profile", 2, under("set")),
      pool("set", 5),
      pool("other", 5, under("account")),
    );
    expect(["account", "profile", "set"].map((name) => used(lending, name))).toEqual([1, 1, 3]);
  });

  test("takes nothing from anybody when a new file lowers it", () => {
    const lending = two(3);
    lending.outcome(acquire("a", "aws:3"), acquire("w", "set"));
    lending.configure(
      account(1),
      pool("aws", 3, under("account")),
      pool("set", 3, under("account")),
    );
    expect(lending.held("a")).toHaveLength(3);
    lending.outcome(release("a", { claim: "1" }), release("a", { claim: "2" }));
    expect(lending.held("w")).toBeUndefined();
    lending.do(release("a"));
    expect(lending.held("w")).toEqual(["set-1"]);
  });

  test("has room again when a pool that the file no longer has gives its last one back", () => {
    const lending = new Lending(account(1), pool("set", 1, under("account")), pool("aws", 1));
    lending.do(acquire("s", "set"));
    lending.configure(account(1), pool("aws", 1, under("account")));
    lending.outcome(acquire("a", "aws"), release("s"));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("leaves cleaning alone, and counts what Boskos's clients take by name", () => {
    const lending = two(1);
    lending.outcome(acquire("a", "aws"), change("set-1", { state: "dirty" }));
    const dirty = { pool: "set" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    const cleaner = { holder: "janitor", items: [dirty], byName: true as const };
    lending.do({ type: "acquire", id: "j" as RequestId, ask: cleaner, waitMs: 0 });
    expect(lending.held("j")).toEqual(["set-1"]);
    expect(
      lending.outcome({
        type: "take",
        holder: "boskos",
        resources: ["aws-2" as ResourceName],
        ids: ["t" as RequestId],
        state: "free",
        into: "leased",
      }),
    ).toMatchObject({ refusal: { code: "none_free", pool: "account" } });
  });
});

test("a request that also needs another cohort does not hide the next one from the limit", () => {
  const parent = { parent: "account" as PoolName };
  const lending = new Lending(
    ...[pool("account", 0, { limit: 3 }), pool("x", 3, parent), pool("y", 3, parent)],
    pool("z", 1, { patienceMs: 600_000 }),
  );
  lending.do(acquire("z1", "z"));
  lending.do(acquire("y1", "y:2"));
  lending.do(acquire("both", "x z"));
  lending.do(acquire("three", "x:3"));
  lending.do(acquire("y2", "y"));
  expect([lending.held("three"), lending.held("y2")]).toEqual([undefined, undefined]);
  lending.do(release("y1"));
  expect(lending.held("three")).toEqual(["x-1", "x-2", "x-3"]);
});
