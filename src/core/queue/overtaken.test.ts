import { expect, test } from "vitest";
import { acquire, Lending, pool, release, runTo } from "../decide/lending.suite.ts";
import type { SpaceName } from "../model/ids.ts";
import { anySpace } from "../model/space.ts";
import { overtakenMax } from "./leftover.ts";

test("serve() grants a request that comes within reach when others are granted", () => {
  const lending = new Lending(pool("aws", 2), pool("gcp", 200));
  lending.outcome(acquire("a1", "aws"), acquire("a2", "aws"));
  for (let number = 0; number <= overtakenMax; number++) {
    lending.do(acquire(`m${number}`, "aws gcp"));
  }
  lending.do(acquire("far", "gcp"));
  expect(lending.held("far")).toBeUndefined();
  lending.outcome(release("a1"), release("a2"));
  expect(lending.line("gcp")).toHaveLength(overtakenMax - 1);
  expect(lending.held("far")).toEqual(["gcp-3"]);
});

test("requests over two pools keep no more than the smaller pool can serve together", () => {
  const [minuteMs, ttlMs] = [60_000, 86_400_000];
  const lending = new Lending(pool("aws", 10), pool("slot", 2));
  lending.do(acquire("slots", "slot:2", { ttlMs }));
  for (let at = 0; at < 10; at++) lending.do(acquire(`both-${at}`, "aws slot", { ttlMs }));
  runTo(lending, 11 * minuteMs);
  for (let at = 0; at < 10; at++) lending.do(acquire(`aws-${at}`, "aws"));
  expect(lending.line("aws").filter((id) => id.startsWith("aws-"))).toEqual(["aws-8", "aws-9"]);
  lending.do(release("slots"));
  expect([lending.held("both-0"), lending.held("both-1")]).not.toContain(undefined);
});

test("a request keeps nothing of a pool whose quota it waits for, if it may have another pool", () => {
  const [a, b] = ["a", "b"] as SpaceName[] as [SpaceName, SpaceName];
  const pools = [pool("aws", 4), pool("gcp", 1)];
  const lending = new Lending(...pools);
  const policy = { weight: 1, quotas: [{ pool: pools[0]?.name as never, max: 1 }] };
  const spaces = { ...anySpace, spaces: [{ name: a, policy }] };
  lending.do({ type: "configure", pools, spaces });
  lending.outcome(acquire("b-gcp", "gcp", { space: b }), acquire("a-1", "aws", { space: a }));
  lending.do(acquire("a-2", "aws|gcp", { space: a }));
  lending.do(acquire("b-1", "aws", { space: b }));
  expect([lending.held("a-2"), lending.held("b-1")]).toEqual([undefined, ["aws-2"]]);
  lending.do(release("b-gcp"));
  expect(lending.held("a-2")).toEqual(["gcp-1"]);
});
