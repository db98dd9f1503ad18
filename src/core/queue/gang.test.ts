import { describe, expect, test } from "vitest";
import { apply } from "../apply/apply.ts";
import { acquire, Lending, leave, pool, release } from "../decide/lending.suite.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { capacityPool } from "../shared/capacity.suite.ts";

const group = { group: { name: "g", size: 2 } };

function needs(lending: Lending, id: string): string[] | undefined {
  const request = lending.state.requests.get(id as RequestId);
  return request?.needs.map(({ pool: { name }, count }) => `${name}:${count}`);
}

describe("a gang", () => {
  test("is led by its last member, which has the needs of all", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 2));
    lending.outcome(acquire("a", "aws"), acquire("m", "aws", group));
    lending.do(acquire("l", "gcp:2", group));
    expect([needs(lending, "m"), needs(lending, "l")]).toEqual([["aws:1"], ["aws:1", "gcp:2"]]);
  });

  test("that lost a member waits for another; each member has its own needs meanwhile", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 2));
    lending.outcome(acquire("a", "aws"), acquire("m", "aws", group));
    lending.outcome(acquire("l", "gcp:2", group), leave("m"));
    expect(needs(lending, "l")).toEqual(["gcp:2"]);
    lending.do(acquire("n", "aws", group));
    expect([needs(lending, "l"), needs(lending, "n")]).toEqual([["gcp:2"], ["gcp:2", "aws:1"]]);
    lending.do(release("a"));
    expect([lending.held("l"), lending.held("n")]).toEqual([["gcp-1", "gcp-2"], ["aws-1"]]);
  });

  test("refuses a request beyond its size, and is not changed by it", () => {
    const lending = new Lending(pool("t", 3));
    lending.outcome(acquire("all", "t:3"), acquire("a", "t", group), acquire("b", "t", group));
    const refusal = { code: "group_full", group: "g", size: 2 };
    expect(lending.outcome(acquire("c", "t", group))).toMatchObject({ refusal });
    lending.outcome(acquire("d", "t"), release("all"));
    expect([lending.held("a"), lending.held("b"), lending.held("d")]).toEqual([
      ["t-1"],
      ["t-2"],
      ["t-3"],
    ]);
    expect(lending.line("t")).toEqual([]);
  });

  test("of an older journal, with a request beyond its size, is granted without it", () => {
    const lending = new Lending(pool("t", 3));
    lending.outcome(acquire("all", "t:3"), acquire("a", "t", group), acquire("b", "t", group));
    const ask = lending.state.requests.get("b" as RequestId)?.ask;
    if (ask === undefined) throw new Error("b does not wait");
    apply(lending.state, { type: "request-queued", id: "c" as RequestId, ask }, lending.now);
    expect(needs(lending, "c")).toEqual(["t:1"]);
    lending.outcome(leave("c"), release("all"));
    expect([lending.held("a"), lending.held("b")]).toEqual([["t-1"], ["t-2"]]);
    expect(lending.line("t")).toEqual([]);
  });

  test("refuses a request with another size", () => {
    const lending = new Lending(pool("t", 3));
    lending.do(acquire("a", "t", group));
    const larger = { group: { name: "g", size: 3 } };
    const refusal = { code: "group_size_differs", group: "g", size: 2, asked: 3 };
    expect(lending.outcome(acquire("b", "t", larger))).toMatchObject({ refusal });
  });

  test("lets the requests behind it be granted when a member leaves, even after its patience", () => {
    const patient = { patienceMs: 0 };
    const lending = new Lending(pool("p", 2, patient), pool("q", 1, patient));
    lending.outcome(acquire("h", "q"), acquire("a", "p", group), acquire("b", "q", group));
    lending.do(acquire("c", "p:2"));
    expect(lending.held("c")).toBeUndefined();
    lending.do(leave("b"));
    expect(lending.held("c")).toEqual(["p-1", "p-2"]);
  });

  test("whose pool is removed uses the next pool of a member", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 2));
    lending.outcome(acquire("h", "gcp:2"), acquire("m", "gcp", group));
    lending.do(acquire("l", "aws|gcp", group));
    lending.configure(pool("gcp", 2));
    expect(needs(lending, "l")).toEqual(["gcp:2"]);
    lending.do(release("h"));
    expect([lending.held("m"), lending.held("l")]).toEqual([["gcp-1"], ["gcp-2"]]);
  });

  test("without members is removed", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("m", "aws", group), leave("m"));
    expect(lending.state.gangs.size).toBe(0);
  });

  test("has one alternative: each member uses its first pool", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 2));
    lending.outcome(
      acquire("a", "aws"),
      acquire("m", "gcp", group),
      acquire("l", "aws|gcp", group),
    );
    expect(needs(lending, "l")).toEqual(["gcp:1", "aws:1"]);
  });

  test("waits for all its members after a pool becomes shared or exclusive", () => {
    const shared = capacityPool({ r: { capacity: { cpus: 1 } } });
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    lending.outcome(acquire("m", "aws", group), acquire("l", "aws", group));
    lending.configure(pool("aws", 2), { ...shared, name: "gcp" as PoolName });
    expect(needs(lending, "l")).toEqual(["aws:2"]);
    lending.do(release("a"));
    expect(lending.held("m")).toBeUndefined();
    lending.do(release("b"));
    expect([lending.held("m"), lending.held("l")]).toEqual([["aws-1"], ["aws-2"]]);
  });
});
