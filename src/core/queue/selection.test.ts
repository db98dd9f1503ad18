import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import {
  acquire,
  change,
  Lending,
  leave,
  operator,
  pool,
  release,
} from "../decide/lending.suite.ts";
import { explainNeeds, waitReason } from "../explain/explain.ts";
import type { Ask, Command, Item } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import type { PoolPolicy, PoolSpec } from "../model/policy.ts";
import type { Request } from "../model/state.ts";

/** `regions("aws", "eu", "eu", "us")` has aws-1 and aws-2 in eu, and aws-3 in us. */
function regions(name: string, ...names: readonly string[]): PoolSpec {
  return withPolicy({}, name, ...names);
}

function withPolicy(policy: Partial<PoolPolicy>, name: string, ...names: string[]): PoolSpec {
  const spec = pool(name, names.length, policy);
  const members = spec.members.map((member, index) => {
    return { ...member, labels: { region: names[index] ?? "" } };
  });
  return { ...spec, members };
}

type Wanted = Partial<Omit<Item, "pool">> & { readonly pool?: string };

function select(
  id: string,
  wanted: Wanted | readonly Wanted[],
  options: Partial<Ask> & { readonly nowOnly?: true } = {},
): Command {
  const { nowOnly, ...rest } = options;
  const items = [wanted].flat().map(({ pool: name = "aws", count = 1, ...item }) => {
    return { ...item, pool: name as PoolName, count };
  });
  const ask: Ask = { holder: `job-${id}`, items, ...rest };
  const now = nowOnly === undefined ? undefined : { nowOnly };
  return { type: "acquire", id: id as RequestId, ask, waitMs: 0, ...now };
}

const eu = { selector: { region: "eu" } };
const us = { selector: { region: "us" } };

function waiting(lending: Lending, id: string): Request {
  const request = lending.state.requests.get(id as RequestId);
  if (request === undefined) throw new Error(`${id} does not wait`);
  return request;
}

function reason(lending: Lending, id: string) {
  const { code, message } = waitReason(waiting(lending, id), lending.now);
  return `${code}: ${message}`;
}

describe("a request with a selector in an exclusive pool", () => {
  test.each<[string, Wanted | readonly Wanted[], string[]]>([
    ["a label", us, ["aws-3"]],
    ["a label that several have: the one that is idle longest", eu, ["aws-1"]],
    ["a name", { resource: "aws-2" }, ["aws-2"]],
    ["a name and its label", { resource: "aws-3", ...us }, ["aws-3"]],
    ["all that match", { ...eu, count: 2 }, ["aws-1", "aws-2"]],
    ["any, and one that only one is", [{}, { resource: "aws-1" }], ["aws-1", "aws-2"]],
    ["two names out of order", [{ resource: "aws-3" }, { resource: "aws-1" }], ["aws-3", "aws-1"]],
    [
      "one that both match, and one that only one matches",
      [eu, { resource: "aws-1" }],
      ["aws-2", "aws-1"],
    ],
  ])("gets the resources that match %s", (_, wanted, names) => {
    const lending = new Lending(regions("aws", "eu", "eu", "us"));
    lending.do(select("a", wanted));
    expect(lending.held("a")).toEqual(names);
  });

  test("waits for a resource that matches, and gets it the moment that it is free", () => {
    const lending = new Lending(regions("aws", "eu", "us", "us"));
    lending.outcome(acquire("h", "aws"), select("a", eu));
    expect([lending.held("h"), lending.held("a")]).toEqual([["aws-1"], undefined]);
    lending.do(release("h"));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("does not keep resources that do not match from those behind it", () => {
    const lending = new Lending(regions("aws", "eu", "us", "us"));
    lending.outcome(select("h", eu), select("a", eu), acquire("b", "aws"), select("c", us));
    expect([lending.held("b"), lending.held("c")]).toEqual([["aws-2"], ["aws-3"]]);
  });

  test("keeps the resources that match from those behind it", () => {
    const lending = new Lending(regions("aws", "eu", "eu", "us"));
    lending.outcome(select("h", { resource: "aws-1" }), select("a", { ...eu, count: 2 }));
    lending.outcome(acquire("b", "aws"), select("c", eu), select("d", { resource: "aws-2" }));
    expect(lending.held("b")).toEqual(["aws-3"]);
    expect([lending.held("c"), lending.held("d")]).toEqual([undefined, undefined]);
    lending.do(release("h"));
    expect(lending.held("a")).toEqual(["aws-2", "aws-1"]);
  });

  test("waits behind a request for any resource", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(select("h", eu), acquire("a", "aws:2"), select("b", us));
    expect(lending.held("b")).toBeUndefined();
    lending.do(leave("a"));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("keeps what each of its selections matches, also if another request waits for one of them", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(select("holder", eu), select("first", eu), select("both", [eu, us]));
    lending.do(select("behind", us));
    expect(lending.held("behind")).toBeUndefined();
  });

  test("that leaves releases what it kept", () => {
    const lending = new Lending(regions("aws", "eu", "eu"));
    lending.outcome(select("h", eu), select("a", { ...eu, count: 2 }), acquire("b", "aws"));
    expect(lending.held("b")).toBeUndefined();
    lending.do(leave("a"));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("does not let hundreds of equal requests block another label", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.do(select("h", eu));
    for (let number = 0; number < 300; number++) lending.do(select(`e${number}`, eu));
    lending.do(acquire("p", "aws"));
    expect(lending.held("p")).toEqual(["aws-2"]);
    lending.do(select("u", us));
    lending.do(release("p"));
    expect(lending.held("u")).toEqual(["aws-2"]);
    lending.do(release("h"));
    expect(lending.held("e0")).toEqual(["aws-1"]);
  });

  test("is overtaken within the patience of a pool that it also needs, and then keeps one match", () => {
    const aws = withPolicy({ patienceMs: 1_000 }, "aws", "eu", "eu", "us");
    const lending = new Lending(aws, pool("slot", 1, { patienceMs: 1_000 }));
    lending.outcome(acquire("h", "slot"), select("a", [eu, { pool: "slot" }]), select("b", eu));
    expect(lending.held("b")).toEqual(["aws-1"]);
    lending.tickAt(1_000);
    lending.outcome(select("c", eu), acquire("d", "aws"), acquire("e", "aws"));
    expect([lending.held("c"), lending.held("d")]).toEqual([undefined, ["aws-3"]]);
    lending.do(release("h"));
    expect(lending.held("a")).toEqual(["aws-2", "slot-1"]);
    expect(lending.held("e")).toBeUndefined();
  });

  test("is granted with the other members of its group, each with its own match", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    const group = { group: { name: "g", size: 2 } };
    lending.outcome(select("a", {}, group), select("b", { resource: "aws-1" }, group));
    expect([lending.held("a"), lending.held("b")]).toEqual([["aws-2"], ["aws-1"]]);
  });

  test("takes the first pool that has a match now", () => {
    const lending = new Lending(regions("aws", "us"), regions("gcp", "us", "eu"));
    lending.do(select("a", { ...eu, anyOf: ["gcp" as PoolName] }));
    expect(lending.held("a")).toEqual(["gcp-2"]);
  });

  test("is granted when an operator sets the label", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(select("h", eu), select("a", eu));
    lending.do(change("aws-2", { labels: { region: "eu" } }));
    expect(lending.held("a")).toEqual(["aws-2"]);
  });

  test("is granted when a reload sets the label", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(select("h", eu), select("a", eu));
    lending.configure(regions("aws", "eu", "eu"));
    expect(lending.held("a")).toEqual(["aws-2"]);
  });

  test("leaves when a reload takes away the last match", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(select("h", eu), select("a", eu));
    lending.configure(regions("aws", "us", "us"));
    expect(lending.end("a")).toBe("unsatisfiable");
  });

  test("waits for a drained or quarantined match", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(change("aws-1", { drained: true }), select("a", eu));
    expect(lending.held("a")).toBeUndefined();
    lending.do(change("aws-1", { drained: false }));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("does not wait if it does not want to", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.do(select("h", eu));
    const refusal = { code: "none_free", pool: "aws" };
    expect(lending.outcome(select("a", eu, { nowOnly: true }))).toMatchObject({ refusal });
  });

  test("takes a dirty one that matches", () => {
    const lending = new Lending(withPolicy({ onRelease: "dirty" }, "aws", "eu", "us"));
    lending.outcome(acquire("a", "aws:2"), release("a"));
    lending.do(select("c", { ...us, state: "dirty", into: "cleaning" }));
    expect(lending.held("c")).toEqual(["aws-2"]);
  });

  test("survives a snapshot", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(select("h", eu), select("a", eu));
    const frozen = freeze(lending.state);
    expect(freeze(thaw(frozen))).toEqual(frozen);
  });

  test("does not let a shared limit be taken from the request behind it that waits for more", () => {
    const account = pool("account", [], { limit: 2 });
    const under = { parent: "account" as PoolName };
    const aws = withPolicy(under, "aws", "eu", "us", "us");
    const lending = new Lending(account, aws, pool("gcp", 2, under));
    lending.outcome(select("h", eu), select("s", eu), select("two", { ...us, count: 2 }));
    lending.do(acquire("late", "gcp"));
    expect(lending.held("late")).toBeUndefined();
    lending.outcome(leave("s"), release("h"));
    expect(lending.held("two")).toEqual(["aws-2", "aws-3"]);
  });
});

describe("a selector that can never match", () => {
  test.each<[string, Wanted | readonly Wanted[], object]>([
    [
      "a wrong value",
      { selector: { region: "ue" } },
      { code: "too_few_eligible", nearest: "region=eu" },
    ],
    [
      "a wrong key",
      { selector: { regoin: "eu" } },
      { code: "too_few_eligible", nearest: "region=eu" },
    ],
    [
      "a key that every object has",
      { selector: { constructor: "eu" } },
      { code: "too_few_eligible", possible: 0 },
    ],
    ["a wrong name", { resource: "asw-1" }, { code: "too_few_eligible", nearest: "aws-1" }],
    [
      "too many",
      { ...us, count: 2 },
      { code: "too_few_eligible", asked: 2, possible: 1, total: 3 },
    ],
    [
      "a name with the label of another",
      { resource: "aws-1", ...us },
      { code: "too_few_eligible", possible: 0 },
    ],
    [
      "one resource twice",
      [{ resource: "aws-1" }, { resource: "aws-1" }],
      { code: "never_fits_together", items: 2 },
    ],
    ["more than the pool has", { ...us, count: 4 }, { code: "never_fits", asked: 4 }],
  ])("is refused: %s", (_, wanted, refusal) => {
    const lending = new Lending(regions("aws", "eu", "eu", "us"));
    expect(lending.outcome(select("a", wanted))).toMatchObject({ type: "refused", refusal });
  });

  test("is not refused for a resource that moves to the pool", () => {
    const lending = new Lending(regions("aws", "eu"), regions("gcp", "us"));
    lending.do(acquire("h", "aws"));
    const [aws] = regions("aws", "eu").members;
    const gcp = regions("gcp", "us");
    lending.configure(
      gcp.members.length === 0 || aws === undefined
        ? gcp
        : { ...gcp, members: [...gcp.members, aws] },
    );
    lending.do(select("a", { pool: "gcp", ...eu }));
    expect(lending.held("a")).toBeUndefined();
    lending.do(release("h"));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("other keys of shared pools are still refused", () => {
    const lending = new Lending(regions("aws", "eu"));
    const refusal = { code: "lent_whole", key: "exclude" };
    expect(lending.outcome(select("a", { exclude: ["aws-1"] }))).toMatchObject({ refusal });
  });
});

describe("a selector in a dynamic pool", () => {
  const dynamic = { dynamic: { min: 0, max: 3, state: "free", lifespanMs: null } };

  test("makes no resource while one that matches is held", () => {
    const lending = new Lending(withPolicy(dynamic, "aws", "eu"));
    lending.outcome(select("h", eu), select("a", eu));
    expect([...lending.state.resources.keys()]).toEqual(["aws-1"]);
  });

  test("makes one that may get the label, and no more", () => {
    const lending = new Lending(withPolicy(dynamic, "aws", "eu"));
    lending.do(select("a", us));
    expect(lending.state.resources.size).toBe(2);
    lending.do(change("aws-2", { labels: { region: "us" } }));
    expect(lending.held("a")).toEqual(["aws-2"]);
  });

  test("is refused for a name that nobody has", () => {
    const lending = new Lending(withPolicy(dynamic, "aws", "eu"));
    const refusal = { code: "too_few_eligible", nearest: "aws-1" };
    expect(lending.outcome(select("a", { resource: "aws-7" }))).toMatchObject({ refusal });
  });
});

describe("the reason of a wait for a selection", () => {
  const held = "no_free: The only one of aws with region=us is held; next in line";
  test.each<[string, Command[], Wanted, string]>([
    ["held", [select("h", us)], us, held],
    [
      "held, by name",
      [select("h", us)],
      { resource: "aws-3" },
      "no_free: aws-3 is held by job-h; next in line",
    ],
    [
      "too few",
      [select("h", { resource: "aws-1" })],
      { ...eu, count: 2 },
      "not_enough_free: 1 of 2 aws with region=eu free, 2 needed; next in line",
    ],
    [
      "drained, by name",
      [change("aws-3", { drained: true })],
      { resource: "aws-3" },
      "none_usable: aws-3 is drained by ann: test; next in line",
    ],
    [
      "drained",
      [change("aws-3", { drained: true })],
      us,
      "none_usable: None of 1 aws with region=us can be lent (1 drained): aws-3 is drained by ann: test; next in line",
    ],
    [
      "behind",
      [select("h", { resource: "aws-1" }), select("b", { ...eu, count: 2 })],
      { resource: "aws-2" },
      "behind_others: aws-2 is free, but others are ahead; 1 ahead",
    ],
  ])("says that it is %s", (_, commands, wanted, text) => {
    const lending = new Lending(regions("aws", "eu", "eu", "us"));
    lending.outcome(...commands, select("a", wanted));
    expect(reason(lending, "a")).toBe(text);
  });

  test("counts only what matches", () => {
    const lending = new Lending(regions("aws", "eu", "eu", "us"));
    lending.outcome(select("h", us), select("g", { resource: "aws-1" }));
    lending.outcome(select("b", { ...eu, count: 2 }), select("a", us));
    expect(explainNeeds(waiting(lending, "a"), lending.now)).toMatchObject([
      {
        selects: "region=us",
        ...{ needed: 1, free: 0, available: 0, size: 1, states: { busy: 1 } },
        aheadOfIt: [{ id: "b", keeps: 1 }],
        heldBy: [{ resource: "aws-3" }],
      },
    ]);
  });

  test("is in the grant: a match was free again", () => {
    const lending = new Lending(regions("aws", "eu", "us"));
    lending.outcome(select("h", eu), select("a", eu));
    lending.tickAt(1_000);
    const { events } = lending.do(release("h"));
    const granted = events.find(({ type }) => type === "lease-granted");
    expect(granted).toMatchObject({ waitedFor: "no_free" });
  });

  test("is in the grant: a request ahead has left", () => {
    const lending = new Lending(regions("aws", "eu", "eu"));
    lending.outcome(select("h", eu), select("b", { ...eu, count: 2 }), select("a", eu));
    lending.tickAt(1_000);
    const { events } = lending.do({ ...leave("b"), reason: operator } as Command);
    const granted = events.find(({ type }) => type === "lease-granted");
    expect(granted).toMatchObject({ waitedFor: "behind_others" });
  });
});
