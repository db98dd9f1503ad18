import fc from "fast-check";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { policyFields } from "../core/model/policy-fields.ts";
import { formatDuration } from "../core/model/time.ts";
import { formatProblem } from "./document.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";
import { ConfigFile } from "./schema.ts";

/** Every problem points at a place that an editor can go to. */
function expectPlaces(text: string): ParsedConfig {
  const config = parseConfig(text, "berth.yaml");
  const lines = text.split("\n");
  for (const problem of config.ok ? config.warnings : config.problems) {
    const line = lines[problem.line - 1];
    expect(line, `no line ${problem.line}`).toBeDefined();
    expect(problem.column).toBeGreaterThanOrEqual(1);
    expect(problem.column).toBeLessThanOrEqual((line?.length ?? 0) + 1);
    expect(formatProblem(problem)).not.toContain("\n");
  }
  return config;
}

test("parseConfig() never throws, and points into the file, whatever the text", () => {
  const texts = fc.string({ unit: "binary", maxLength: 200 });
  fc.assert(fc.property(texts, (text) => void expectPlaces(text)));
});

const pieces = fc.constantFrom(
  ...["pools:", "count", "members", "ttl", "labels", "10m", "1.10", "yes", "a", "é"],
  ...["resources", "names", "type", "needs", "max-count"],
  ...["\n", "\n  ", "\n    ", "\r\n", "\t", " ", ": ", ", ", "- ", "? ", "{ ", " }", "[", "]"],
  ...["&x ", "*x ", "!t ", "!!str ", "<<", "# c", "---\n", "...\n", "%YAML 1.1\n", "\uFEFF"],
  ...['"', "'", "|", ">-", "@", "`", "~", "\0", "😀", "\\", "0x1F", "__proto__", "constructor"],
);

const starts = [
  ...["", "pools:\n  a: ", "pools: { a: { ", "resources:\n- type: a\n  names: "],
  ...["resources: [{ ", "resources: [&x { max-count: 1, ", "Resources: &x "],
];

test("parseConfig() never throws, and points into the file, for all that looks like YAML", () => {
  const texts = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""));
  const files = fc.tuple(fc.constantFrom(...starts), texts);
  fc.assert(
    fc.property(files, ([start, rest]) => void expectPlaces(start + rest)),
    { numRuns: 500 },
  );
});

/** Every key of a pool that takes a duration, with good values. */
const durations = Object.fromEntries(
  Object.values(policyFields).flatMap(({ key, kind }): [string, fc.Arbitrary<string>][] => {
    if (kind.type !== "duration") return [];
    return [[key, fc.integer({ min: kind.minMs, max: kind.maxMs }).map(formatDuration)]];
  }),
);
const durationKeys = Object.keys(durations);
const state = fc.constantFrom("free", "dirty", "my.state");
const policy = fc.record(
  {
    ...durations,
    onRelease: state,
    onExpire: state,
    silence: fc.dictionary(
      fc.constantFrom("busy", "leased", "my.state"),
      fc.oneof(
        fc.constantFrom("30m", "1s"),
        fc.record({ after: fc.constant("1h"), to: state }, { requiredKeys: ["after"] }),
      ),
    ),
    dynamic: fc.record(
      { min: fc.nat(3), max: fc.integer({ min: 3, max: 9 }), state, lifespan: fc.constant("2h") },
      { requiredKeys: ["max"] },
    ),
    janitor: fc.record(
      {
        command: fc.array(fc.constantFrom("./clean", "-x", ""), { minLength: 1 }),
        timeout: fc.constant("10m"),
        retries: fc.integer({ min: 1, max: 100 }),
        backoff: fc.constantFrom("0s", "1h"),
        parallel: fc.integer({ min: 1, max: 9 }),
        env: fc.constantFrom({}, { A: "text", _b: { userData: "a key/1" } }),
      },
      { requiredKeys: ["command"] },
    ),
  },
  { requiredKeys: [] },
);
const goodName = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/);
const goodSize = fc.oneof(
  fc.record({ count: fc.nat({ max: 20 }) }),
  fc.record({ members: fc.uniqueArray(goodName, { maxLength: 9 }) }),
  fc.record({ members: fc.constant({ m: { labels: { k: "v" } }, n: null }) }),
);
const goodPool = fc.tuple(policy, goodSize).map(([rules, size]) => ({ ...rules, ...size }));
const goodConfig = goodPool.map((pool) => ({ pools: { "the.pool": pool } }));

test("parseConfig() accepts what the schema for editors accepts, if no name is used twice", () => {
  const check = (data: unknown): void => {
    expect(Value.Check(ConfigFile, data)).toBe(true);
    expect(expectPlaces(stringify(data))).toMatchObject({ ok: true });
  };
  fc.assert(fc.property(goodConfig, check), { numRuns: 200 });
});

const anyName = fc.constantFrom("b", "1.10", "no", "constructor", "__proto__", "é", "a b", "");
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, [], {}, 0, 10, "10", "10m", "10 minutes", "free", ["x", 1], { x: null }),
  fc.constantFrom(1, 100, "1s", [""], ["a\0"], { A: 1 }, { BERTH_A: "x" }, { A: { userData: "" } }),
  fc.constantFrom({ after: "1m" }, { after: "1m", to: "busy" }, { to: "free" }, { max: 3 }),
  fc.constantFrom({ count: 1 }, { members: ["x"] }, { labels: { a: 1 } }, { labels: { a: "b" } }),
);
const poolKey = fc.constantFrom("count", "members", "onRelease", "ttls", ...durationKeys);
const partKey = fc.constantFrom("silence", "dynamic", "janitor");
const innerKey = fc.constantFrom(
  ...["busy", "after", "to", "min", "max", "state", "lifespan", "command", "timeout", "retries"],
  ...["backoff", "parallel", "env", "other"],
);
const spoiltPath = fc.oneof(
  fc.tuple(fc.constantFrom("pools", "spaces")),
  fc.tuple(fc.constant("pools"), anyName),
  fc.tuple(fc.constant("pools"), fc.constant("the.pool"), poolKey),
  fc.tuple(fc.constant("pools"), fc.constant("the.pool"), partKey, innerKey),
  ...[[], ["m"], ["m", "labels"]].map((below) =>
    fc.tuple(...["pools", "the.pool", "members", ...below].map((key) => fc.constant(key)), anyName),
  ),
);

/** The data with another value at one place; the same if there is no such place. */
function spoil(data: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) return [...data, value];
  const entries = new Map<string, unknown>(Object.entries(data));
  return Object.fromEntries(entries.set(key, spoil(entries.get(key) ?? {}, rest, value)));
}

test("parseConfig() accepts nothing that the schema for editors refuses", () => {
  const verdicts = { accepted: 0, refused: 0 };
  const check = (good: unknown, path: readonly string[], value: unknown): void => {
    const data = spoil(good, path, value);
    for (const text of [JSON.stringify(data), stringify(data)]) {
      const { ok } = expectPlaces(text);
      verdicts[ok ? "accepted" : "refused"] += 1;
      if (ok) expect(Value.Check(ConfigFile, data), text).toBe(true);
    }
  };
  fc.assert(fc.property(goodConfig, spoiltPath, anyValue, check), { numRuns: 1_000 });
  expect(Math.min(...Object.values(verdicts)), "a test of one verdict only").toBeGreaterThan(10);
});

interface Schema {
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

/** The paths of all places that the schema describes; `name` where the writer chooses one. */
function placesIn(schema: Schema, path: readonly string[] = []): (readonly string[])[] {
  const { anyOf = [], properties = {}, patternProperties = {}, additionalProperties } = schema;
  const named = [...Object.values(patternProperties), additionalProperties ?? false].filter(
    (one) => typeof one === "object",
  );
  return [
    path,
    ...anyOf.flatMap((one) => placesIn(one, path)),
    ...Object.entries(properties).flatMap(([key, one]) => placesIn(one, [...path, key])),
    ...named.flatMap((one) => placesIn(one, [...path, "name"])),
    ...(schema.items === undefined ? [] : placesIn(schema.items, [...path, "[]"])),
  ];
}

/** As they stand in a file. */
const hostileTexts: readonly string[] = [
  ...["", "null", "true", "-1", "1.5", "1e400", ".nan", "-.inf", "9007199254740993", "0x1F"],
  ...[
    '""',
    '" "',
    '"\\0"',
    '"\\e[31m"',
    '"a\\nb"',
    '"a\\u202eb"',
    '"\\u200b"',
    '"\\ufeff"',
    '"\\ud800"',
  ],
  ...[
    '"\\u2028"',
    '"\\x9b"',
    '"😀"',
    JSON.stringify("x".repeat(10_000)),
    '"*"',
    '"../../x"',
    '"{"',
  ],
  ...["[]", "[null]", "[[[[[]]]]]", "{}", "{ a: null }", "{ a: 1, a: 2 }", '{ "": 1 }'],
  ...['{ "__proto__": { x: 1 } }', "{ constructor: 1, toString: 2, hasOwnProperty: 3 }"],
  ...[
    "!!binary aGk=",
    "!x y",
    '!!int "3"',
    "{ <<: { a: 1 } }",
    "&x [*x]",
    "&s { a: *s }",
    "*nobody",
  ],
  ...["{ a: ".repeat(60) + "}".repeat(60), "[".repeat(60) + "]".repeat(60)],
  ...["0s", "-5m", "999999999999h", `${"9".repeat(400)}s`, "2027-02-30", '"https://["'],
];

test("parseConfig() takes any value at any place: it never throws, and what it says can be read", () => {
  const places = placesIn(ConfigFile as Schema).filter(({ length }) => length > 0);
  expect(places.length, "the walk does not find the schema").toBeGreaterThan(250);
  const check = (place: readonly string[], value: string): void => {
    const inner = place.reduceRight((text, key) => {
      return key === "[]" ? `[${text}]` : `{ ${JSON.stringify(key)}: ${text} }`;
    }, value);
    const others = place[0] === "pools" ? "" : "pools: { p: { count: 1 } }, ";
    const config = expectPlaces(`{ ${others}${inner.slice(1)}`);
    if (!config.ok) expect(config.problems).not.toHaveLength(0);
    for (const problem of config.ok ? config.warnings : config.problems) {
      const message = formatProblem(problem);
      expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|undefined|\[object/u);
      expect(message).toMatch(/ \(.+\)$/);
      expect(message.length).toBeLessThan(1_500);
    }
  };
  const values = fc.constantFrom(...hostileTexts);
  fc.assert(fc.property(fc.constantFrom(...places), values, check), { numRuns: 500 });
});
