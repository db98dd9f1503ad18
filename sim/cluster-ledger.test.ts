import { describe, expect, test } from "vitest";
import type { DurableEvent, GrantedClaim } from "../src/core/model/event.ts";
import type { PoolName, ResourceName } from "../src/core/model/ids.ts";
import { defaultPolicy } from "../src/core/model/policy.ts";
import { ClusterLedger } from "./cluster-ledger.ts";

const cluster = {
  ...{ template: "t", revision: "r", size: 0, running: 0, hibernates: true },
  ...{ max: 2, concurrent: 2, parameters: {} },
  limits: { createMs: 1, resumeMs: 1, stopMs: 1, destroyMs: 1 },
};

function defined(pool: string, policy: object): DurableEvent {
  return {
    type: "pool-defined",
    pool: pool as PoolName,
    policy: { ...defaultPolicy, ...policy },
  };
}

function planned(resource: string, instance = resource): DurableEvent {
  const birth = { instance, template: "t", revision: "r", parameters: {}, price: 1 };
  const what = { pool: "ocp" as PoolName, state: "creating", cluster: birth };
  return { type: "resource-added", resource: resource as ResourceName, ...what };
}

function moved(resource: string, state: string): DurableEvent {
  const what = { wanted: "destroyed", why: "" } as const;
  return { type: "cluster-moved", resource: resource as ResourceName, state, ...what };
}

const lent = (resource: string) => ({ id: "1", resource, fence: 1 }) as unknown as GrantedClaim;

function ledgerWith(...events: readonly DurableEvent[]): ClusterLedger {
  const ledger = new ClusterLedger();
  for (const event of [defined("ocp", { cluster, parent: "account" }), ...events]) {
    ledger.record(event);
  }
  return ledger;
}

describe("ClusterLedger notices", () => {
  test("more clusters than max", () => {
    const ledger = ledgerWith(planned("a"), moved("a", "hibernated"), planned("b"));
    ledger.record(moved("b", "hibernated"));
    expect(() => ledger.record(planned("c"))).toThrow("3 are above 2");
  });

  test("more at once than concurrent", () => {
    const policy = { cluster: { ...cluster, max: 9, concurrent: 1 } };
    const ledger = ledgerWith(defined("ocp", policy), planned("a"));
    expect(() => ledger.record(planned("b"))).toThrow("2 at once");
  });

  test("more than the account allows", () => {
    const ledger = ledgerWith(defined("account", { limit: 1 }), planned("a"));
    expect(() => ledger.record(planned("b"))).toThrow("took account to 2 of 1");
  });

  test("an instance that is planned twice", () => {
    expect(() => ledgerWith(planned("a", "x"), planned("b", "x"))).toThrow("planned twice");
  });

  test("a cluster that is lent before it is ready, twice, or after its destruction", () => {
    const ledger = ledgerWith(planned("a"));
    ledger.outside = { wasReady: (name) => name !== "a", isDestroyed: (name) => name === "b" };
    expect(() => ledger.granted(lent("a"), "s")).toThrow("was lent while it is creating");
    ledger.record(moved("a", "free"));
    expect(() => ledger.granted(lent("a"), "s")).toThrow("before it was ready");
    ledger.record(planned("b"));
    ledger.record(moved("b", "free"));
    expect(() => ledger.granted(lent("b"), "s")).toThrow("after it was destroyed");
    ledger.outside = undefined;
    ledger.record(moved("b", "free"));
    ledger.granted(lent("b"), "s");
    expect(ledger.chargedTo("s")).toMatchObject([{ pool: "ocp", price: 1 }]);
    ledger.record(moved("b", "free"));
    expect(() => ledger.granted(lent("b"), "s")).toThrow("lent twice");
  });

  test("a cluster that is removed although it exists", () => {
    const ledger = ledgerWith(planned("a"));
    const removed = { type: "resource-removed", resource: "a" as ResourceName } as const;
    expect(() => ledger.record(removed)).toThrow("removed while it is creating");
  });
});
