import { describe, expect, test } from "vitest";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolName } from "../../core/model/ids.ts";
import {
  defaultAdaptive,
  defaultCleaning,
  type PoolPolicy,
  type PoolSpec,
} from "../../core/model/policy.ts";
import { BadSetting, parseSetting, withSettings } from "./settings.ts";

const pools = [pool("aws", 2, { cooldownMs: 30_000, onRelease: "dirty" }), pool("aws.eu", ["x"])];
const names = pools.map(({ name }) => name);
const set = (...texts: string[]) =>
  withSettings(
    pools,
    texts.map((text) => parseSetting(text, names)),
  );

const one = (policy: Partial<PoolPolicy>): PoolSpec => pool("p", 1, policy);

function setOne(spec: PoolSpec, ...texts: string[]): PoolSpec {
  const settings = texts.map((text) => parseSetting(text, [spec.name]));
  const [changed] = withSettings([spec], settings);
  if (changed === undefined) throw new Error("There is no pool");
  return changed;
}

describe("withSettings()", () => {
  test("changes only the named keys", () => {
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

  test("changes a nested key, and keeps its neighbours", () => {
    const pace = { everyMs: 24_000, burst: 5, jitter: 0.25 };
    const paced = [pool("install", 3, { pace, limit: 2, parent: "account" as PoolName })];
    const [changed] = withSettings(paced, [parseSetting("install.pace.every=20s", ["install"])]);
    expect(changed?.policy).toEqual({ ...paced[0]?.policy, pace: { ...pace, everyMs: 20_000 } });
    expect(changed?.members).toBe(paced[0]?.members);
  });

  const adaptive = { ...defaultAdaptive, mode: "advise" as const, min: 5, max: 10 };

  test("changes a bound of an adaptive rate, and keeps the other", () => {
    const pool = one({ adaptive });
    expect(setOne(pool, "p.adaptive.max=20").policy).toEqual({
      ...pool.policy,
      adaptive: { ...adaptive, max: 20 },
    });
  });

  test("starts from the defaults if the pool does not have the section yet", () => {
    const pool = one({ silence: { leased: { afterMs: 1_000, to: "free" } }, onExpire: "dirty" });
    const texts = ["p.adaptive.max=20", "p.janitor.retries=5", "p.silence.busy.after=1h"];
    expect(setOne(pool, ...texts).policy).toEqual({
      ...pool.policy,
      adaptive: { ...defaultAdaptive, max: 20 },
      cleaning: { ...defaultCleaning, retries: 5 },
      silence: { ...pool.policy.silence, busy: { afterMs: 3_600_000, to: "dirty" } },
    });
  });

  test("keeps values that a Berth configuration file would reject", () => {
    const pool = one({ dynamic: { min: 0, max: 3, state: "a b", lifespanMs: 900 * 86_400_000 } });
    expect(setOne(pool, "p.dynamic.max=4").policy).toEqual({
      ...pool.policy,
      dynamic: { ...pool.policy.dynamic, max: 4 },
    });
  });

  test("finds another parent among all pools", () => {
    const [aws] = set("aws.parent=aws.eu");
    expect(aws?.policy).toEqual({ ...pools[0]?.policy, parent: "aws.eu" });
  });

  test("finds a pool whose name contains a dot", () => {
    expect(parseSetting("aws.eu.cooldown=1m", names)).toEqual({
      ...{ pool: "aws.eu", key: "cooldown", value: "1m" },
    });
  });

  test("rejects names that two resources would share", () => {
    const specs = [pool("aws", 2), pool("other", ["aws-4"])];
    const more = (text: string) => () =>
      withSettings(specs, [parseSetting(text, ["aws", "other"])]);
    expect(more("aws.count=3")).not.toThrow();
    expect(more("aws.count=4")).toThrow("already has aws-4");
  });

  test("refuses more resources than a file may have, over all pools together", () => {
    const specs = [pool("aws", 2), pool("other", 2)];
    const half = ["aws.count=500001", "other.count=500001"];
    const settings = half.map((text) => parseSetting(text, ["aws", "other"]));
    expect(() => withSettings(specs, settings)).toThrow("the settings make 1,000,002 resources");
  });

  test("changes nothing without settings", () => {
    expect(set()).toBe(pools);
  });

  test.each([
    ["aws", "it is not POOL.KEY=VALUE"],
    ["azure.count=1", "no pool has this name"],
    ["aws.count=many", "aws.count: "],
    ["aws.cooldown=soon", "aws.cooldown: "],
    ["aws.colour=red", "aws.colour: there is no such key"],
    ["aws.colour.hue=1", "aws.colour: there is no such key"],
    [
      "aws.__proto__.ttl=1m",
      "aws.__proto__: Cannot read pools.aws.__proto__: there is no such key",
    ],
    ["aws.adaptive.min=70", "its min of 70 is more than its max of 60"],
    ["aws.adaptive=fast", "aws.adaptive: "],
    ["aws.adaptive.used=1", "aws.adaptive.used: "],
    ["aws.pace.burst=2", "aws.pace: Cannot read pools.aws.pace: every is missing"],
    ["aws.pace.every=auto", "auto works the pace out from the hold, and there is none"],
    ["aws.dynamic.min=2", "max is missing (add max: 5)"],
    ["aws.silence.busy.to=dirty", "after is missing (add after: 30m)"],
    ["aws.parent=gcp", 'there is no pool "gcp"'],
    ["aws.parent=aws", "the pool is its own ancestor: aws below aws"],
    ["aws.place=pack", "it has no capacity"],
    ["aws.strategies=pack", "it needs place as well (add place: least-used, or remove it)"],
    ["aws.members=x", "names make no difference"],
    ["aws.admission.every=1m", "no cluster is looked at"],
    ["aws.janitor.command=x", "there is no such key"],
  ])("rejects %s: %s", (text, words) => {
    expect(() => set(text)).toThrow(BadSetting);
    expect(() => set(text)).toThrow(words);
  });
});
