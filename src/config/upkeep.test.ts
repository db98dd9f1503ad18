import { describe, expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

function read(pool: string) {
  const config = parseConfig(`pools: { a: { ${pool} } }`, "berth.yaml");
  if (!config.ok) throw new Error(config.problems.map(formatProblem).join("\n"));
  expect(config.warnings).toEqual([]);
  const [spec] = config.pools;
  if (spec === undefined) throw new Error("There is no pool");
  return { ...spec, janitors: config.janitors };
}

/** Without where it begins: all of these stand in one line. */
function said(pool: string): string[] {
  const config = parseConfig(`pools: { a: { ${pool} } }`, "berth.yaml");
  const problems = config.ok ? [] : config.problems.map(formatProblem);
  return problems.map((problem) =>
    problem.replace(/^berth.yaml:1:\d+: Cannot read pools\.a\.?/, ""),
  );
}

describe("silence", () => {
  test("is by state, in short or with a target", () => {
    const { policy } = read(
      "count: 1, onExpire: dirty, silence: { busy: 30m, leased: { after: 2h, to: free }, x: { after: 1s } }",
    );
    expect(policy.silence).toEqual({
      busy: { afterMs: 1_800_000, to: "dirty" },
      leased: { afterMs: 7_200_000, to: "free" },
      x: { afterMs: 1_000, to: "dirty" },
    });
  });

  test("is not there unless it is written", () => {
    expect(read("count: 1").policy).not.toHaveProperty("silence");
    expect(read("count: 1, silence: {}").policy).not.toHaveProperty("silence");
  });

  test.each([
    ["silence: 30m", 'silence: "30m" is not a map of silences (write { busy: 30m })'],
    ["silence: { busy: 30 }", "silence.busy: 30 is not a duration (add a unit: 30s, 30m or 30h)"],
    ["silence: { busy: 0 }", "silence.busy: 0 is shorter than is allowed (write 1s to 365d)"],
    ["silence: { busy: { to: free } }", "silence.busy: after is missing (add after: 30m)"],
    [
      "silence: { busy: { after: 1m, to: busy } }",
      'silence.busy.to: "busy" is a state that only Berth gives ' +
        "(write free, or dirty if it must be cleaned first)",
    ],
    [
      "silence: { busy: { after: 1m, too: free } }",
      "silence.busy.too: there is no such key (write to)",
    ],
    [
      "silence: { in use: 1m }",
      'silence["in use"]: "in use" is not a state ' +
        "(start with a letter or digit, then letters, digits, . _ or -; at most 63)",
    ],
  ])("refuses %s", (text, problem) => {
    expect(said(`count: 1, ${text}`)).toEqual([problem]);
  });
});

describe("dynamic", () => {
  test("needs no other members, and may stand beside them", () => {
    const alone = read("dynamic: { max: 5 }");
    expect(alone.members).toEqual([]);
    expect(alone.policy.dynamic).toEqual({ min: 0, max: 5, state: "free", lifespanMs: null });
    const both = read("members: [m], dynamic: { min: 1, max: 5, state: dirty, lifespan: 12h }");
    expect(both.members).toHaveLength(1);
    expect(both.policy.dynamic).toEqual({
      min: 1,
      max: 5,
      state: "dirty",
      lifespanMs: 12 * 3_600_000,
    });
  });

  test.each([
    ["dynamic: 5", "dynamic: 5 is not a dynamic part (write { max: 5 }, or { min: 1, max: 5 })"],
    ["dynamic: {}", "dynamic: max is missing (add max: 5)"],
    ["dynamic: { max: 0 }", "dynamic.max: 0 is less than 1 (write 1 to 1,000,000)"],
    ["dynamic: { min: 3, max: 2 }", "dynamic.min: 3 is more than max, which is 2 (swap them)"],
    [
      "dynamic: { max: '2' }",
      'dynamic.max: "2" is not a whole number (write 1 to 1,000,000, without quotes)',
    ],
    [
      "count: 600000, dynamic: { max: 400001 }",
      "count: with it the file has 1,000,001 resources, and the limit is 1,000,000 " +
        "(write at most 599,999)",
    ],
  ])("refuses %s", (text, problem) => {
    expect(said(text)).toEqual([problem]);
  });
});

describe("janitor", () => {
  test("has a command, and usual settings for all else", () => {
    const { policy, janitors } = read("count: 1, janitor: { command: [./clean.sh] }");
    expect(policy).toMatchObject({
      onRelease: "free",
      onExpire: "dirty",
      cleaning: { retries: 3, backoffMs: 60_000 },
    });
    expect(janitors).toEqual([
      { pool: "a", command: ["./clean.sh"], timeoutMs: 1_800_000, parallel: 1, env: {} },
    ]);
  });

  test("can be told everything", () => {
    const { policy, janitors } = read(
      "count: 1, onExpire: free, janitor: { command: [clean, --all, ''], timeout: 5m, retries: 1, " +
        "backoff: 0, parallel: 4, env: { REGION: eu-west-1, KEY: { userData: access-key-id } } }",
    );
    expect(policy).toMatchObject({ onExpire: "free", cleaning: { retries: 1, backoffMs: 0 } });
    expect(janitors).toEqual([
      {
        pool: "a",
        command: ["clean", "--all", ""],
        timeoutMs: 300_000,
        parallel: 4,
        env: { REGION: "eu-west-1", KEY: { userData: "access-key-id" } },
      },
    ]);
  });

  test.each([
    ["janitor: ./x", 'janitor: "./x" is not a janitor (write { command: [./clean.sh] })'],
    ["janitor: {}", "janitor: it has no command (add command: and write [./clean.sh, --all])"],
    [
      "janitor: { command: ./x }",
      'janitor.command: "./x" is not a list of words (write [./clean.sh, --all])',
    ],
    ["janitor: { command: [] }", "janitor.command: it is empty (write [./clean.sh, --all])"],
    [
      "janitor: { command: [x, 5] }",
      'janitor.command[1]: 5 is a number, not a text (quote it: "5")',
    ],
    ["janitor: { command: [x], retries: 0 }", "janitor.retries: 0 is less than 1 (write 1 to 100)"],
    [
      "janitor: { command: [x], env: { BERTH_TOKEN: x } }",
      'janitor.env.BERTH_TOKEN: "BERTH_TOKEN" is not a variable name ' +
        "(use letters, digits and _; names that begin with BERTH_ are Berth's own)",
    ],
    [
      "janitor: { command: [x], env: { A: { userData: b, key: c } } }",
      "janitor.env.A.key: there is no such key (known here: userData)",
    ],
    [
      "janitor: { command: [x], env: { A: {} } }",
      "janitor.env.A: it does not say where its text is from (add userData: and a key)",
    ],
  ])("refuses %s", (text, problem) => {
    expect(said(`count: 1, ${text}`)).toEqual([problem]);
  });
});
