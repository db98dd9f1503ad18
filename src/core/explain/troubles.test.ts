import { describe, expect, test } from "vitest";
import { ClusterLending, clusterPool } from "../clusters/clusters.suite.ts";
import { acquire, change, clean, Lending, pool, release, runTo } from "../decide/lending.suite.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import { defaultAdaptive } from "../model/policy.ts";
import { defaultSpacePolicy } from "../model/space.ts";
import type { Instant } from "../model/time.ts";
import { clusterView } from "./cluster-view.ts";
import { longWaitFrom } from "./long-wait.ts";
import { underWay } from "./next-steps.ts";
import { troublesIn } from "./troubles.ts";

const minuteMs = 60_000;

/** Codes and names at a time. */
function found(lending: Lending, atMs: number): string[] {
  return troublesIn(lending.state, atMs as Instant).map(({ code, name }) => `${code} ${name}`);
}

test("longWaitFrom() is the usual wait or else the mean hold, but never less than five minutes", () => {
  expect(longWaitFrom(20 * minuteMs, 8 * minuteMs)).toBe(8 * minuteMs);
  expect(longWaitFrom(20 * minuteMs, 1_000)).toBe(5 * minuteMs);
  expect(longWaitFrom(10_000)).toBe(5 * minuteMs);
  expect(longWaitFrom(20 * minuteMs)).toBe(20 * minuteMs);
  expect(longWaitFrom(null)).toBe(10 * minuteMs);
});

describe("troublesIn()", () => {
  test("finds nothing while all is well", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws"));
    expect(found(lending, 60 * minuteMs)).toEqual([]);
  });

  test("finds clusters that no pool has, for those who see all spaces", () => {
    const lending = new Lending(pool("aws", 1));
    const search = { template: "ocp", credentials: null };
    const cluster = { name: "berth-old", instance: "old.1", createdAt: "2020-01-01T00:00:00Z" };
    lending.do({ type: "clusters-found", ...search, found: [cluster] });
    expect(troublesIn(lending.state, 1 as Instant)).toMatchObject([
      { code: "cluster_orphaned", kind: "orphan", name: "berth-old", space: undefined },
    ]);
    expect("space" in (troublesIn(lending.state, 1 as Instant)[0] ?? {})).toBe(true);
    lending.do({ type: "clusters-found", ...search, found: [] });
    expect(found(lending, 1)).toEqual([]);
  });

  test("finds a destruction that takes longer than its limit, and no other", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 0 }));
    lending.do(acquire("a", "ocp"));
    lending.workAll();
    lending.do(release("a"));
    const id = lending.take("destroying") as RequestId;
    const resource = "ocp-1" as ResourceName;
    const report = { message: "volume vol-1 is attached", stuck: ["volume vol-1 is attached"] };
    lending.do({ type: "cluster-report", id, resource, report });
    const steps = () => underWay(lending.poolNamed(), lending.now);
    const view = () => clusterView(lending.resource("ocp-1") as Parameters<typeof clusterView>[0]);
    expect(found(lending, lending.now)).toEqual([]);
    expect(view()).toMatchObject({ stuck: null, message: "volume vol-1 is attached" });
    expect(steps()).toEqual(["destroying ocp-1 for 0s"]);
    runTo(lending, 60 * minuteMs);
    expect(found(lending, lending.now)).toEqual(["cluster_destroy_stuck ocp-1"]);
    expect(view().stuck).toEqual(["volume vol-1 is attached"]);
    expect(steps()).toEqual(["destroying ocp-1, stuck for 1h: volume vol-1 is attached"]);
  });

  test("finds a wait that is longer than a usual hold", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 9e9 }));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("b", "aws"));
    expect(found(lending, 10 * minuteMs)).toEqual([]);
    expect(found(lending, 10 * minuteMs + 1)).toEqual(["waits_long aws"]);
    // From now on the usual hold is known: a quarter of an hour.
    lending.now = (15 * minuteMs) as Instant;
    lending.do(release("a"));
    lending.do(acquire("c", "aws"));
    expect(found(lending, 30 * minuteMs)).toEqual([]);
    const [late] = troublesIn(lending.state, (31 * minuteMs) as Instant);
    expect(late).toMatchObject({
      since: 15 * minuteMs,
      text: "1 waiting; a lease usually lasts 15m",
    });
  });

  test("finds a wait that is longer than nearly all recorded ones", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 9e9 }));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("b", "aws"));
    const at = (minutes: number, usualMinutes: number) =>
      troublesIn(
        lending.state,
        (minutes * minuteMs) as Instant,
        new Map([["aws", usualMinutes * minuteMs]]),
      ).map(({ text }) => text);
    expect(at(40, 45), "usual, although it is long").toEqual([]);
    expect(at(46, 45)).toEqual(["1 waiting; 99 of 100 start within 45m"]);
    expect(at(4, 0), "nobody has to look at a short wait").toEqual([]);
    expect(at(6, 0)).toEqual(["1 waiting; usually nobody waits"]);
  });

  test("says which other pool, or which rate, a long wait is for", () => {
    const pace = { everyMs: 9e8, burst: 1, jitter: 0 };
    const lending = new Lending(pool("host", 2, { ttlMs: 9e9 }), pool("install", 9, { pace }));
    lending.do(acquire("a", "install"));
    lending.do(acquire("b", "host install"));
    const told = troublesIn(lending.state, (11 * minuteMs) as Instant);
    expect(told.map(({ name, text }) => `${name} ${text}`)).toEqual([
      "host waits for install: 1 waiting",
      "install waits for its rate: 1 waiting",
    ]);
  });

  test("says that a throttled rate, or a limit, is what a long wait is for", () => {
    const adaptive = { ...defaultAdaptive, min: 0.001, max: 0.002 };
    const lending = new Lending(
      pool("install", 9, { ttlMs: 9e9, adaptive }),
      pool("aws", 9, { ttlMs: 9e9, limit: 1 }),
    );
    lending.do(acquire("a", "install"));
    lending.do({ type: "signal", id: "a" as RequestId, throttled: true });
    lending.do(acquire("b", "install"));
    lending.do(acquire("c", "aws"));
    lending.do(acquire("d", "aws"));
    const told = troublesIn(lending.state, (11 * minuteMs) as Instant);
    const long = told.filter(({ code }) => code === "waits_long");
    expect(long.map(({ name, text }) => `${name} ${text}`)).toEqual([
      "install waits for its rate: 1 waiting",
      "aws waits for its limit: 1 waiting",
    ]);
  });

  test("a long wait for a full limit is one of the limit too", () => {
    const east = pool("east", 9, { ttlMs: 9e9, parent: "cloud" as PoolName });
    const lending = new Lending(pool("cloud", 0, { limit: 1 }), east);
    lending.do(acquire("a", "east"));
    lending.do(acquire("b", "east"));
    expect(troublesIn(lending.state, (11 * minuteMs) as Instant)).toMatchObject([
      { name: "east", limits: ["cloud"], text: "waits for the limit of cloud: 1 waiting" },
    ]);
  });

  test("finds what is quarantined with the first line of the reason", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(change("aws-2", { state: "quarantined", note: "it failed\ntwice" }));
    expect(troublesIn(lending.state, 5 as Instant)).toEqual([
      {
        ...{ code: "quarantined", kind: "resource", name: "aws-2", pool: "aws" },
        ...{ since: 0, text: "it failed" },
      },
    ]);
  });

  test("finds what nobody has cleaned for an hour", () => {
    const lending = new Lending(pool("aws", 3));
    lending.do(change("aws-2", { state: "dirty" }));
    expect(found(lending, 59 * minuteMs)).toEqual([]);
    expect(found(lending, 60 * minuteMs)).toEqual(["not_cleaned aws"]);
  });

  test("finds a pool that has nothing left to lend, within minutes", () => {
    const lending = new Lending(pool("aws", 4));
    lending.do(change("aws-1", { state: "mine" }));
    lending.do(change("aws-2", { state: "quarantined" }));
    lending.do(change("aws-3", { drained: true }));
    const empty = () => found(lending, 5 * minuteMs).filter((one) => one.startsWith("nothing"));
    expect(empty()).toEqual([]);
    lending.do(acquire("a", "aws"));
    expect(empty()).toEqual([]);
    lending.do(release("a", { state: "dirty" }));
    expect(empty()).toEqual(["nothing_to_lend aws"]);
    expect(found(lending, 5 * minuteMs - 1)).toEqual(["quarantined aws-2"]);
    const later = troublesIn(lending.state, (60 * minuteMs) as Instant);
    expect(later.map(({ code }) => code)).toEqual(["quarantined", "nothing_to_lend"]);
    expect(later[1]?.text).toBe(
      "none of its 4 can be lent: 1 mine, 1 quarantined, 1 drained, 1 dirty",
    );
    lending.do(clean("c"));
    expect(empty()).toEqual([]);
  });

  test("leaves a pool alone whose resources were all put aside", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(change("aws-1", { drained: true }));
    expect(found(lending, 60 * minuteMs)).toEqual([]);
  });

  test("finds a rate that reports of throttling have brought to its minimum", () => {
    const adaptive = { ...defaultAdaptive, min: 4, max: 5 };
    const lending = new Lending(pool("aws", 9, { adaptive }));
    lending.do(acquire("a", "aws"));
    expect(found(lending, 1)).toEqual([]);
    lending.do({ type: "signal", id: "a" as RequestId, throttled: true });
    expect(found(lending, 1)).toEqual(["rate_at_minimum aws"]);
  });

  test("finds a space that has waited long for its own quota, and tells whose it is", () => {
    const team = "team" as SpaceName;
    const policy = { ...defaultSpacePolicy, quotas: [{ pool: "aws" as PoolName, max: 1 }] };
    const pools = [pool("aws", 4), pool("gcp", 1)];
    const lending = new Lending();
    const spaces = { spaces: [{ name: team, policy }], others: defaultSpacePolicy };
    lending.do({ type: "configure", pools, spaces });
    lending.do(acquire("a", "aws", { space: team }));
    lending.do(acquire("g", "gcp", { space: team }));
    lending.do(acquire("h", "gcp", { space: team }));
    expect(found(lending, 6 * minuteMs)).toEqual([]);
    lending.do(acquire("b", "aws", { space: team }));
    expect(found(lending, 5 * minuteMs)).toEqual([]);
    const [trouble] = troublesIn(lending.state, (6 * minuteMs) as Instant);
    expect(trouble).toMatchObject({
      ...{ code: "quota_reached_long", name: "team", space: "team", pool: "aws" },
    });
    expect(trouble?.text).toBe("it holds all 1 aws of its quota");
  });
});
