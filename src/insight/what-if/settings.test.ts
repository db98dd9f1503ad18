import { describe, expect, test } from "vitest";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolName } from "../../core/model/ids.ts";
import { BadSetting, parseSetting, withSettings } from "./settings.ts";

const pools = [pool("aws", 2, { cooldownMs: 30_000, onRelease: "dirty" }), pool("aws.eu", ["x"])];
const names = pools.map(({ name }) => name);
const set = (...texts: string[]) =>
  withSettings(
    pools,
    texts.map((text) => parseSetting(text, names)),
  );

describe("withSettings()", () => {
  test("changes what is named and nothing else", () => {
    const [aws, other] = set("aws.count=5", "aws.hold=20m");
    expect(aws?.members.map(({ name }) => name)).toEqual([
      "aws-1",
      "aws-2",
      "aws-3",
      "aws-4",
      "aws-5",
    ]);
    expect(aws?.policy).toEqual({ ...pools[0]?.policy, holdMs: 1_200_000 });
    expect(other).toBe(pools[1]);
  });

  test("changes a key within a key, and keeps what stands beside it", () => {
    const pace = { everyMs: 24_000, burst: 5, jitter: 0.25 };
    const paced = [pool("install", 3, { pace, limit: 2, parent: "account" as PoolName })];
    const [changed] = withSettings(paced, [parseSetting("install.pace.every=20s", ["install"])]);
    expect(changed?.policy).toEqual({ ...paced[0]?.policy, pace: { ...pace, everyMs: 20_000 } });
    expect(changed?.members).toBe(paced[0]?.members);
  });

  test("finds a pool whose name has a dot", () => {
    expect(parseSetting("aws.eu.cooldown=1m", names)).toEqual({
      ...{ pool: "aws.eu", key: "cooldown", value: "1m" },
    });
  });

  test("is nothing without settings", () => {
    expect(set()).toBe(pools);
  });

  test.each([
    ["aws", "it is not POOL.KEY=VALUE"],
    ["azure.count=1", "no pool has this name"],
    ["aws.count=many", "aws.count: "],
    ["aws.cooldown=soon", "aws.cooldown: "],
    ["aws.colour=red", "aws.colour: there is no such key"],
    ["aws.colour.hue=1", "aws.colour: there is no such key"],
  ])("refuses %s: %s", (text, words) => {
    expect(() => set(text)).toThrow(BadSetting);
    expect(() => set(text)).toThrow(words);
  });
});
