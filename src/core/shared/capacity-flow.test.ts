/** Paces, limits and admission also apply to shared pools. */
import { describe, expect, test } from "vitest";
import { acquire, Lending, operator, poll, pool, release } from "../decide/lending.suite.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { defaultAdaptive, type PoolPolicy } from "../model/policy.ts";
import { capacityPool, want } from "./capacity.suite.ts";

const everyMs = 10_000;
const spaced: Partial<PoolPolicy> = { pace: { everyMs, burst: 1, jitter: 0 } };
const under: Partial<PoolPolicy> = { parent: "account" as PoolName };
const big = (policy: Partial<PoolPolicy>) =>
  capacityPool({ m: { capacity: { vcpus: 99 } } }, policy);
const one = { amount: { vcpus: 1 } };
const account = (limit: number) => pool("account", [], { limit });

function reasonOf(lending: Lending, id: string) {
  const outcome = lending.outcome(poll(id));
  return outcome.type === "waiting" ? outcome.request.reason : undefined;
}

describe("a pace on a shared pool", () => {
  test("spaces its grants, in the order of the queue", () => {
    const lending = new Lending(big(spaced));
    lending.outcome(want("a", one), want("b", one), want("c", one));
    expect(reasonOf(lending, "b")).toMatchObject({
      code: "paced",
      message: "vsphere has enough free, paced: one every 10s, the next in 10s; next in line",
    });
    lending.tickAt(everyMs);
    expect([lending.held("b"), lending.held("c")]).toEqual([["m"], undefined]);
    lending.tickAt(2 * everyMs);
    expect(lending.held("c")).toEqual(["m"]);
  });

  test("grants a request that had no room before, in its turn", () => {
    const lending = new Lending(big(spaced));
    lending.outcome(want("a", { amount: { vcpus: 99 } }), want("b", { amount: { vcpus: 99 } }));
    lending.tickAt(5 * everyMs);
    expect(reasonOf(lending, "b")?.code).toBe("no_room");
    lending.do(release("a"));
    expect(lending.held("b")).toEqual(["m"]);
  });

  test("counts a request for two resources twice", () => {
    const rooms = { m: { capacity: { vcpus: 9 } }, n: { capacity: { vcpus: 9 } } };
    const lending = new Lending(capacityPool(rooms, spaced));
    lending.outcome(want("a", { ...one, count: 2 }), want("b", one));
    lending.tickAt(2 * everyMs - 1);
    expect(lending.held("b")).toBeUndefined();
    lending.tickAt(2 * everyMs);
    expect(lending.held("b")).toHaveLength(1);
  });

  test("is made slower by a report, and pinned by an operator", () => {
    const adaptive = { ...defaultAdaptive, min: 0.5, max: 6 };
    const lending = new Lending(big({ ...spaced, adaptive }));
    lending.outcome(want("a", one), want("b", one), want("c", one), want("d", one));
    lending.do({ type: "signal", id: "a" as RequestId, throttled: true });
    lending.tickAt(everyMs);
    expect(reasonOf(lending, "c")?.code).toBe("limit_reduced");
    lending.tickAt(2 * everyMs);
    expect(lending.held("c")).toBeUndefined();
    lending.do({ type: "pin", pool: "vsphere" as PoolName, rate: 60, reason: operator });
    expect(lending.held("c")).toEqual(["m"]);
    lending.tickAt(2 * everyMs + 1_000);
    expect(lending.held("d")).toEqual(["m"]);
  });
});

describe("a parent's limit over a shared pool", () => {
  test("counts its claims together with exclusive resources of others", () => {
    const lending = new Lending(account(3), big(under), pool("aws", 3, under));
    lending.outcome(want("a", one), want("b", one), acquire("w", "aws"), want("c", one));
    expect(reasonOf(lending, "c")).toMatchObject({
      code: "limit_reached",
      message: "account limit reached (3/3); next in line",
    });
    lending.do(release("w"));
    expect(lending.held("c")).toEqual(["m"]);
  });

  test("is its own where it has one", () => {
    const lending = new Lending(big({ limit: 2 }));
    lending.outcome(want("a", one), want("b", one), want("c", one));
    expect(lending.held("c")).toBeUndefined();
    lending.do(release("a"));
    expect(lending.held("c")).toEqual(["m"]);
  });

  test("is kept for the request that has waited longest, in shared and exclusive pools", () => {
    const rooms = { m: { capacity: { vcpus: 9 } }, n: { capacity: { vcpus: 9 } } };
    const lending = new Lending(account(2), capacityPool(rooms, under), pool("aws", 3, under));
    lending.outcome(acquire("w", "aws"), want("two", { ...one, count: 2 }), acquire("v", "aws"));
    expect(lending.held("v")).toBeUndefined();
    lending.do(release("w"));
    expect(lending.held("two")).toEqual(["m", "n"]);
    lending.do(release("two"));
    expect(lending.held("v")).toHaveLength(1);
  });

  test("is not kept for a request that has no room anyway", () => {
    const lending = new Lending(account(2), big(under), pool("aws", 3, under));
    lending.outcome(want("a", { amount: { vcpus: 99 } }), want("b", one), acquire("w", "aws"));
    expect(lending.held("w")).toEqual(["aws-1"]);
  });

  test("refuses a request at once that could never be within it", () => {
    const rooms = { m: { capacity: { vcpus: 9 } }, n: { capacity: { vcpus: 9 } } };
    const lending = new Lending(account(1), capacityPool(rooms, under));
    expect(lending.outcome(want("a", { ...one, count: 2 }))).toMatchObject({
      refusal: { code: "never_fits", pool: "account", asked: 2, size: 1 },
    });
  });
});
