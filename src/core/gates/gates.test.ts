/** The gates of a pool are cached. Every change of the answer must clear the cache. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { acquire, Lending, pool, release } from "../decide/lending.suite.ts";
import type { PoolName } from "../model/ids.ts";
import type { PoolPolicy, PoolSpec } from "../model/policy.ts";
import { every, pin, poolIn } from "./gates.suite.ts";
import { closedUntil, gatesOf, opensByTime } from "./gates.ts";

const { pace } = every(1_000);
const adaptive = {
  ...{ mode: "auto" as const, min: 1, max: 6, factor: 0.5, cutEveryMs: 1_000 },
  ...{ step: 1, raiseAfterMs: 1_000, used: 0.9 },
};
const admission = { by: "the check" };
const parent = "account" as PoolName;
const aws = (policy: Partial<PoolPolicy> = {}): PoolSpec => pool("aws", 2, policy);
const account = (policy: Partial<PoolPolicy> = {}): PoolSpec => pool("account", 2, policy);

/** Returns the gates of each pool, and so fills the cache. */
function guards(lending: Lending): Record<string, string[]> {
  const pools = [...lending.state.pools.values()];
  return Object.fromEntries(pools.map((one) => [one.name, gatesOf(one).map(({ name }) => name)]));
}

type Change = (lending: Lending) => void;
const file = (...pools: readonly PoolSpec[]): Change => {
  return (lending) => lending.configure(...pools);
};

describe("the gates of a pool are others", () => {
  test.each<[string, readonly PoolSpec[], Change, Record<string, string[]>]>([
    ["once it is pinned", [aws()], (one) => one.do(pin("aws", 6)), { aws: ["pace"] }],
    [
      "once its parent is pinned",
      [account(), aws({ parent })],
      (one) => one.do(pin("account", 6)),
      { account: ["pace", "limits"], aws: ["pace", "limits"] },
    ],
    [
      "once its pin is gone",
      [aws()],
      (one) => [pin("aws", 6), pin("aws", null)].map((command) => [one.do(command), guards(one)]),
      { aws: [] },
    ],
    ["with a pace in the file", [aws()], file(aws({ pace })), { aws: ["pace"] }],
    ["without it", [aws({ pace })], file(aws()), { aws: [] }],
    ["with a limit", [aws()], file(aws({ limit: 1 })), { aws: ["limits"] }],
    ["with admission", [aws()], file(aws({ admission })), { aws: ["credits"] }],
    [
      "with another pace of its parent",
      [account(), aws({ parent })],
      file(account({ pace }), aws({ parent })),
      { account: ["pace", "limits"], aws: ["pace", "limits"] },
    ],
    [
      "with a parent",
      [account({ pace }), aws()],
      file(account({ pace }), aws({ parent })),
      { account: ["pace", "limits"], aws: ["pace", "limits"] },
    ],
    [
      "without its parent",
      [account({ pace }), aws({ parent })],
      file(account({ pace }), aws()),
      { account: ["pace"], aws: [] },
    ],
    [
      "once the parent has come that it named",
      [aws({ parent })],
      file(aws({ parent }), account({ pace })),
      { account: ["pace", "limits"], aws: ["pace", "limits"] },
    ],
    [
      "once its parent is gone",
      [account({ pace }), aws({ parent })],
      file(aws({ parent })),
      { aws: [] },
    ],
    [
      "once it is retired, and finds no rate any more",
      [aws({ adaptive })],
      (one) => [one.do(acquire("a", "aws")), guards(one), one.configure()],
      { aws: [] },
    ],
  ])("%s", (_, pools, change, want) => {
    const lending = new Lending(...pools);
    guards(lending);
    change(lending);
    expect(guards(lending)).toEqual(want);
  });
});

test("a pin on a parent holds back the pools below it at once", () => {
  const lending = new Lending(pool("account", [], { limit: 9 }), pool("aws", 4, { parent }));
  lending.outcome(acquire("a", "aws"), pin("account", 60));
  lending.outcome(acquire("b", "aws"), acquire("c", "aws"));
  expect([lending.held("b"), lending.held("c")]).toEqual([["aws-2"], undefined]);
  lending.outcome(release("a"), pin("account", null));
  expect(lending.held("c")).toBeDefined();
  expect(poolIn(lending.state, parent).used).toBe(2);
});

describe("closedUntil()", () => {
  const until = (lending: Lending) => {
    const found = poolIn(lending.state, "aws");
    const closure = closedUntil(found, lending.now);
    return { closed: closure && [closure.by.name, closure.until], byTime: opensByTime(found) };
  };
  const once = acquire("a", "aws");

  test.each<[string, readonly PoolSpec[], object]>([
    ["its own pace", [aws({ pace })], { closed: ["aws", 1_000], byTime: true }],
    [
      "the later of two paces",
      [account({ pace: { ...pace, everyMs: 2_000 } }), aws({ parent, pace })],
      { closed: ["account", 2_000], byTime: true },
    ],
    ["no gate", [aws()], { closed: null, byTime: false }],
    ["a limit, which opens with a release", [aws({ limit: 1 })], { closed: null, byTime: false }],
    ["credits, which come when they come", [aws({ admission })], { closed: null, byTime: false }],
  ])("is set by %s", (_, pools, want) => {
    const lending = new Lending(...pools);
    lending.do(once);
    expect(until(lending)).toEqual(want);
  });

  test("is null once the pace is open, also if no request waits", () => {
    const lending = new Lending(aws({ pace }));
    lending.do(once);
    lending.tickAt(1_000);
    expect(until(lending)).toEqual({ closed: null, byTime: true });
  });
});

test("the list in gates.ts has every gate of this folder", () => {
  const folder = new URL("./", import.meta.url);
  const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
  const gates = globSync("*.ts", { cwd: folder }).flatMap((file) => {
    return [...read(file).matchAll(/^export const (\w+): Gate = /gm)].map(([, name = ""]) => name);
  });
  const [, list = ""] =
    read("gates.ts").match(/const gates: readonly Gate\[\] = \[(.*?)\];/s) ?? [];
  expect(gates).toContain("paceGate");
  expect(list.split(/,\s*/).filter(Boolean).toSorted()).toEqual(gates.toSorted());
});
