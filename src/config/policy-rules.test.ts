import { describe, expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

const pools = (text: string) => {
  const config = parseConfig(`pools:\n${text}\n`, "berth.yaml");
  return config.ok ? config.pools : config.problems.map(formatProblem);
};
const policy = (text: string) => {
  const [first] = pools(`  aws: { count: 5, hold: 20m, ${text} }`);
  return typeof first === "object" ? first.policy : first;
};

describe("parseConfig() reads", () => {
  test.each([
    ["a pace", "pace: { every: 24s }", { pace: { everyMs: 24_000, burst: 1, jitter: 0 } }],
    [
      "one that is worked out",
      "pace: { every: auto, burst: 5, jitter: 0.25 }",
      { pace: { everyMs: "auto", burst: 5, jitter: 0.25 } },
    ],
    [
      "an adaptive rate",
      "adaptive: { min: 0.5, max: 6 }",
      { adaptive: { mode: "auto", min: 0.5, max: 6, factor: 0.7, step: 0.1 } },
    ],
    [
      "all of one",
      "adaptive: { mode: advise, factor: 0.5, cutEvery: 1m, step: 1, raiseAfter: 2m }",
      { adaptive: { mode: "advise", factor: 0.5, cutEveryMs: 60_000, step: 1 } },
    ],
    ["one that is off", "adaptive: { mode: off }", { adaptive: { mode: "off" } }],
    ["the off of YAML 1.1", "adaptive: { mode: false }", { adaptive: { mode: "off" } }],
    ["a ttl that is at least the hold", "limit: 3", { holdMs: 1_200_000, ttlMs: 1_200_000 }],
    ["a shorter one where it is written", "ttl: 1m", { holdMs: 1_200_000, ttlMs: 60_000 }],
    ["a limit", "limit: 3", { limit: 3 }],
    ["allowed states", "states: [free, used]", { states: ["free", "used"] }],
  ])("%s", (_, text, want) => {
    expect(policy(text)).toMatchObject(want);
  });

  test("a pace on a pool with pools below it, also one that is worked out", () => {
    const child = "  aws: { count: 5, parent: account }";
    const account = "  account: { limit: 3, hold: 20m, pace: { every: auto } }";
    expect(pools(`${account}\n${child}`)).toMatchObject([
      { policy: { limit: 3, pace: { everyMs: "auto" } } },
      { policy: { parent: "account" } },
    ]);
    const guess = account.replace("hold: 20m, ", "");
    expect(String(pools(`${guess}\n${child}`))).toContain("from the hold, and there is none");
  });

  test("pools below a limit that has nothing of its own", () => {
    const found = pools("  account: { limit: 3 }\n  aws: { count: 5, parent: account }");
    expect(found).toMatchObject([
      { name: "account", members: [], policy: { limit: 3 } },
      { name: "aws", policy: { parent: "account" } },
    ]);
  });
});

describe("parseConfig() refuses", () => {
  test.each([
    ["pace: 24s", "is not a pace"],
    ["pace: { burst: 2 }", "aws.pace: every is missing (add every: 24s)"],
    ["pace: { every: 24 }", "add a unit: 24s"],
    ["pace: { every: 24s, burst: 0 }", "0 is less than 1"],
    ["pace: { every: 24s, jitter: 2 }", "2 is more than 1"],
    ["pace: { every: 24s, brust: 2 }", "write burst"],
    ["adaptive: { mode: fast }", "write off, advise, auto"],
    ["adaptive: { min: 3, max: 2 }", "min of 3 is more than its max of 2"],
    ["adaptive: { min: lots }", "is not a number"],
    ["limit: 1.5", "1.5 is not a whole number"],
    ["parent: avs", 'there is no pool "avs"'],
    ["states: dirty", "is not a list of states"],
    ["states: [dirty]", "it lacks free, the state of onRelease (add free)"],
    ["states: [free], onExpire: used", "it lacks used, the state of onExpire (add used)"],
    [
      "states: [free], silence: { busy: { after: 1m, to: used } }",
      "it lacks used, the state of silence.busy.to (add used)",
    ],
    ["parent: aws", "is its own ancestor: aws below aws"],
  ])("%s", (text, want) => {
    expect(String(policy(text))).toContain(want);
  });

  test("a pace that would be worked out from a hold that there is not", () => {
    expect(String(pools("  aws: { count: 1, pace: { every: auto } }"))).toContain("from the hold");
  });

  const room = "place: pack, members: { m: { capacity: { vcpus: 8 } } }";

  test("a pace that would be worked out from how many amounts there are", () => {
    const text = `  vm: { ${room}, hold: 1h, pace: { every: auto } }`;
    expect(String(pools(text))).toContain("which no amount tells (write a duration such as 24s)");
    expect(pools(`  vm: { ${room}, hold: 1h, pace: { every: 24s } }`)).toMatchObject([
      { policy: { pace: { everyMs: 24_000 } } },
    ]);
  });

  test("a strategy that there is not, and no consequence of it", () => {
    const text = `  vm: { ${room.replace("pack", "best")} }`;
    expect(pools(text)).toEqual([expect.stringContaining('"best" is not a strategy')]);
  });

  test("a parent that is lent by amount and does not say how many it bears", () => {
    const child = "  vm: { count: 2, parent: shared }";
    expect(String(pools(`  shared: { ${room} }\n${child}`))).toContain("add limit: N to shared");
    expect(pools(`  shared: { ${room}, limit: 9 }\n${child}`)).toMatchObject([
      { policy: { limit: 9 } },
      { policy: { parent: "shared" } },
    ]);
  });

  test("a parent that there is not, at its own line", () => {
    const [problem] = pools("  aws: { count: 1 }\n  vm:\n    count: 2\n    parent: avs");
    expect(problem).toMatch(/:5:13: Cannot read pools\.vm\.parent/);
  });

  test("pools that are below each other", () => {
    const found = pools("  a: { count: 1, parent: b }\n  b: { count: 1, parent: a }");
    expect(String(found)).toContain("the pool is its own ancestor: a below b below a");
  });
});
