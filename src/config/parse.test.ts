import { describe, expect, test } from "vitest";
import { defaultPolicy } from "../core/model/policy.ts";
import { policyFields } from "../core/model/policy-fields.ts";
import { formatProblem, formatWarning } from "./document.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";
import { keysOf } from "./read-fields.ts";

const name253 = "n".repeat(253);

/** A file, and all that is said about it. */
type Table = Readonly<Record<string, readonly [text: string, ...said: string[]]>>;

function said(config: ParsedConfig): string[] {
  return config.ok ? config.warnings.map(formatWarning) : config.problems.map(formatProblem);
}

function pools(text: string) {
  const config = parseConfig(text, "berth.yaml");
  if (!config.ok) throw new Error(config.problems.map(formatProblem).join("\n"));
  return config.pools;
}

/** Entries of a list or a map in brackets. */
function many(count: number, each: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => each(index)).join();
}

const anExample = "(write pools: { my-pool: { count: 1 } })";
const aName = "(start with a letter or digit, then letters, digits, . _ or -; at most 253)";
const keysOfAFile =
  "(known here: pools, hubs, templates, profiles, mirror, caas, auth, priorities, ageing, spaces, spaceDefaults)";
const clusterKeys = ["template", "size", "running", "max", "concurrent", "parameters"];
const poolKeys = ["count", "members", ...clusterKeys, ...keysOf(policyFields)];
const keysOfAPool = `(known here: ${poolKeys.join(", ")})`;
const aSyntaxHint = "(check indentation, quotes and brackets here)";

const files: Table = {
  "an empty file": ["", `berth.yaml:1:1: Cannot read the file: it is empty ${anExample}`],
  "a file of comments": [
    "# soon\n",
    `berth.yaml:1:1: Cannot read the file: it is empty ${anExample}`,
  ],
  "a list": ["- a\n", `berth.yaml:1:1: Cannot read the file: a list is not a map ${anExample}`],
  "a word": ["pools\n", `berth.yaml:1:1: Cannot read the file: "pools" is not a map ${anExample}`],
  "a file without pools": [
    "{}\n",
    `berth.yaml:1:1: Cannot read the file: it has no pools ${anExample}`,
  ],
  "a file of both kinds": [
    "pools: { a: { count: 1 } }\nresources:\n- { type: aws, names: [a] }\n",
    "berth.yaml:1:1: Cannot read pools: the file has resources as well " +
      "(keep pools, which is Berth's own form, or resources, which is Boskos's)",
  ],
  "a tab that indents": [
    "pools:\n\ta: { count: 1 }\n",
    "berth.yaml:2:1: Cannot read the file: a tab is used to indent (use spaces)",
  ],
  "a tab that indents, and not what follows from it": [
    "pools:\n  a:\n    count: 1\n\tttl: 5m\n  b:\n    count: 2\n    ttl: 3m\n",
    "berth.yaml:4:1: Cannot read the file: a tab is used to indent (use spaces)",
  ],
  "a second document": [
    "pools: {}\n---\npools: {}\n",
    "berth.yaml:2:1: Cannot read the file: a second document starts here " +
      "(keep one, and remove the --- between them)",
  ],
  "a bracket that stays open": [
    "pools:\n  a: { count: 1\n  b: { count: 2 }\n",
    "berth.yaml:3:3: Cannot read the file: flow map in block collection must be sufficiently " +
      `indented and end with a } ${aSyntaxHint}`,
  ],
  "a quote that stays open": [
    'pools:\n  a: { count: "1 }\n',
    `berth.yaml:3:1: Cannot read the file: missing closing "quote ${aSyntaxHint}`,
  ],
  "brackets without end": [
    "[".repeat(50_000),
    expect.stringMatching(/: it is nested too deeply \(look for a bracket that is never closed\)$/),
  ],
  "a list as a key": [
    "pools:\n  ? [a]\n  : { count: 1 }\n",
    "berth.yaml:2:5: Cannot read the file: a key is neither a word nor a number " +
      "(write the key as plain text)",
  ],
  "a tag that nobody knows": [
    "pools: !map { a: { count: 1 } }\n",
    "berth.yaml:1:8: Cannot read the file: no such tag is known " +
      "(quote a text that begins with !)",
  ],
  "a file that is too large": [
    `# ${"x".repeat(4 * 1024 * 1024)}\npools: {}\n`,
    "berth.yaml:1:1: Cannot read the file: it is larger than the limit of 4,194,304 bytes " +
      "(write count instead of members where the names do not matter)",
  ],
};

const keys: Table = {
  "a key written twice, with both lines": [
    "pools:\n  a: { count: 1 }\n  b: { count: 1 }\n  a: { count: 2 }\n",
    "berth.yaml:4:3: Cannot read pools.a: it is written twice, first in line 2 (keep one of them)",
  ],
  "a misspelt key, with the nearest": [
    "pools:\n  a: { count: 1, lifetme: 4h }\n",
    "berth.yaml:2:18: Cannot read pools.a.lifetme: there is no such key (write lifetime)",
  ],
  "a key from nowhere, with all that are known": [
    "pools:\n  a: { count: 1, tenants: { every: 24s } }\ntenants: {}\n",
    `berth.yaml:2:18: Cannot read pools.a.tenants: there is no such key ${keysOfAPool}`,
    `berth.yaml:3:1: Cannot read tenants: there is no such key ${keysOfAFile}`,
  ],
  "a merge key": [
    "pools:\n  a: &a { count: 1 }\n  b: { <<: *a }\n",
    "berth.yaml:3:3: Cannot read pools.b: it has neither count nor members " +
      "(add count: 1, or members: and their names)",
    'berth.yaml:3:8: Cannot read pools.b["<<"]: there is no such key ' +
      "(write the keys out: YAML 1.2 does not merge maps)",
  ],
  "__proto__, wherever it stands": [
    "__proto__: 1\npools:\n  __proto__: { count: 1, __proto__: 1 }\n" +
      "  a: { members: { __proto__: { labels: { __proto__: x } } } }\n",
    `berth.yaml:1:1: Cannot read __proto__: there is no such key ${keysOfAFile}`,
    `berth.yaml:3:3: Cannot read pools.__proto__: "__proto__" is not a name ${aName}`,
    `berth.yaml:3:26: Cannot read pools.__proto__.__proto__: there is no such key ${keysOfAPool}`,
    `berth.yaml:4:19: Cannot read pools.a.members.__proto__: "__proto__" is not a name ${aName}`,
    'berth.yaml:4:42: Cannot read pools.a.members.__proto__.labels.__proto__: "__proto__" is not ' +
      "a label key (start with a letter or digit, then letters, digits, . _ / or -; at most 253)",
  ],
};

const durations: Table = {
  "words instead of units": [
    'pools:\n  aws:\n    count: 1\n    ttl: "10 minutes"\n',
    'berth.yaml:4:10: Cannot read pools.aws.ttl: "10 minutes" is not a duration (write 10m)',
  ],
  "a number without a unit": [
    "pools: { a: { count: 1, ttl: 600 } }",
    "berth.yaml:1:30: Cannot read pools.a.ttl: 600 is not a duration " +
      "(add a unit: 600s, 600m or 600h)",
  ],
  "a duration that is left out": [
    "pools:\n  a:\n    count: 1\n    lifetime:\n",
    "berth.yaml:4:14: Cannot read pools.a.lifetime: it is empty " +
      "(write a number and a unit, such as 90s, 20m or 4h)",
  ],
  "what is too short or too long": [
    "pools: { a: { count: 1, ttl: 500ms, hold: 0, patience: 8d } }",
    "berth.yaml:1:30: Cannot read pools.a.ttl: 500ms is shorter than is allowed (write 1s to 1d)",
    "berth.yaml:1:43: Cannot read pools.a.hold: 0 is shorter than is allowed (write 1s to 365d)",
    "berth.yaml:1:56: Cannot read pools.a.patience: 8d is longer than is allowed (write 0s to 7d)",
  ],
  "a list in its place": [
    "pools: { a: { count: 1, cooldown: [1s] } }",
    "berth.yaml:1:35: Cannot read pools.a.cooldown: a list is not a duration " +
      "(write a number and a unit, such as 90s, 20m or 4h)",
  ],
};

const sizes: Table = {
  "both count and members": [
    "pools:\n  a: { count: 1, members: [x] }\n",
    "berth.yaml:2:3: Cannot read pools.a: it has both count and members (keep one of them)",
  ],
  "neither count nor members": [
    "pools:\n  a: { ttl: 1m }\n  b:\n",
    "berth.yaml:2:3: Cannot read pools.a: it has neither count nor members " +
      "(add count: 1, or members: and their names)",
    "berth.yaml:3:5: Cannot read pools.b: it is empty " +
      "(write { count: 1 }, or members: and their names)",
  ],
  "counts that are no whole numbers": [
    'pools:\n  a: { count: "80" }\n  b: { count: 1.5 }\n  c: { count: -1 }\n' +
      "  d: { count: .inf }\n  e: { count: many }\n",
    'berth.yaml:2:15: Cannot read pools.a.count: "80" is not a whole number ' +
      "(write 0 to 1,000,000, without quotes)",
    "berth.yaml:3:15: Cannot read pools.b.count: 1.5 is not a whole number " +
      "(write 0 to 1,000,000, without quotes)",
    "berth.yaml:4:15: Cannot read pools.c.count: -1 is less than 0 (write 0 to 1,000,000)",
    "berth.yaml:5:15: Cannot read pools.d.count: .inf is not a whole number " +
      "(write 0 to 1,000,000, without quotes)",
    'berth.yaml:6:15: Cannot read pools.e.count: "many" is not a whole number ' +
      "(write 0 to 1,000,000, without quotes)",
  ],
  "a count beyond all limits": [
    "pools: { a: { count: 1e15 } }",
    "berth.yaml:1:22: Cannot read pools.a.count: 1e15 is more than 1,000,000 " +
      "(write 0 to 1,000,000)",
  ],
  "counts that are too many together": [
    "pools:\n  a: { count: 999999 }\n  b: { members: [x, y] }\n",
    "berth.yaml:3:17: Cannot read pools.b.members: with it the file has 1,000,001 resources, and " +
      "the limit is 1,000,000 (write at most 1)",
  ],
  "too many resources, once": [
    "pools:\n  a: { count: 900000 }\n  b: { count: 900000 }\n  c: { count: 900000 }\n",
    "berth.yaml:3:15: Cannot read pools.b.count: with it the file has 1,800,000 resources, and " +
      "the limit is 1,000,000 (write at most 100,000)",
  ],
  "a count whose names would be too long": [
    `pools:\n  ${name253}: { count: 1 }\n`,
    `berth.yaml:2:267: Cannot read pools.${name253}.count: the last name it makes is longer than ` +
      "253 characters (shorten the name of the pool)",
  ],
  "too many pools": [
    `pools:\n${Array.from({ length: 10_001 }, (_, i) => `  p${i}: { count: x }\n`).join("")}`,
    "berth.yaml:1:1: Cannot read pools: it has 10,001 pools, and the limit is 10,000 (remove 1)",
  ],
  "more labels than one resource may have": [
    `pools: { a: { members: { x: { labels: { ${many(65, (i) => `k${i}: v`)} } } } } }`,
    "berth.yaml:1:31: Cannot read pools.a.members.x.labels: it has 65 labels, and the limit is " +
      "64 (remove 1)",
  ],
};

const names: Table = {
  "values that YAML does not take for text": [
    "pools: { a: { members: [1.10, true, 0x1F, ~] } }",
    "berth.yaml:1:25: Cannot read pools.a.members[0]: 1.10 is a number, not a name " +
      '(quote it: "1.10")',
    "berth.yaml:1:31: Cannot read pools.a.members[1]: true is a boolean, not a name " +
      '(quote it: "true")',
    "berth.yaml:1:37: Cannot read pools.a.members[2]: 0x1F is a number, not a name " +
      '(quote it: "0x1F")',
    `berth.yaml:1:43: Cannot read pools.a.members[3]: ~ is not a name ${aName}`,
  ],
  "a number for a label": [
    "pools: { a: { members: { x: { labels: { version: 4.10, spot: yes } } } } }",
    "berth.yaml:1:50: Cannot read pools.a.members.x.labels.version: 4.10 is a number, not a " +
      'label value (quote it: "4.10")',
  ],
  "names of other forms": [
    'pools:\n  "a b": { count: 1 }\n  -x: { members: [_y, "", { z: 1 }] }\n',
    `berth.yaml:2:3: Cannot read pools["a b"]: "a b" is not a name ${aName}`,
    `berth.yaml:3:3: Cannot read pools.-x: "-x" is not a name ${aName}`,
    `berth.yaml:3:19: Cannot read pools.-x.members[0]: "_y" is not a name ${aName}`,
    `berth.yaml:3:23: Cannot read pools.-x.members[1]: "" is not a name ${aName}`,
    `berth.yaml:3:27: Cannot read pools.-x.members[2]: a map is not a name ${aName}`,
  ],
  "a name that is too long, in short": [
    `pools: { a: { members: [${"m".repeat(254)}] } }`,
    `berth.yaml:1:25: Cannot read pools.a.members[0]: "${"m".repeat(60)}…" is not a name ${aName}`,
  ],
  "a member named twice": [
    "pools:\n  a:\n    members:\n      - x\n      - y\n      - x\n",
    "berth.yaml:6:9: Cannot read pools.a.members[2]: line 4 already has x, from " +
      "pools.a.members[0] (rename one: a name is used once in the whole file)",
  ],
  "a name in two pools": [
    "pools:\n  a: { members: [x] }\n  b:\n    members:\n      x: { labels: { l: v } }\n",
    "berth.yaml:5:7: Cannot read pools.b.members.x: line 2 already has x, from " +
      "pools.a.members[0] (rename one: a name is used once in the whole file)",
  ],
  "a name that a count makes": [
    "pools:\n  b: { members: [a-3, a-4, a-0, a-03, a-] }\n  a: { count: 3 }\n",
    "berth.yaml:2:18: Cannot read pools.b.members[0]: line 3 already has a-3, from " +
      "pools.a.count (rename one: a name is used once in the whole file)",
  ],
  "members that are no list": [
    "pools:\n  a: { members: aws-1 }\n  b: { members: { x: [l] } }\n  c: { members: }\n",
    'berth.yaml:2:17: Cannot read pools.a.members: "aws-1" is not a list of names ' +
      "(write [aws-1, aws-2], or a map)",
    "berth.yaml:3:22: Cannot read pools.b.members.x: a list is not a resource " +
      "(write { labels: { region: us-east-1 } })",
    "berth.yaml:4:17: Cannot read pools.c.members: it is empty (write [aws-1, aws-2], or a map)",
  ],
  "states that only Berth gives": [
    "pools: { a: { count: 1, onRelease: busy, onExpire: 'not a state' } }",
    'berth.yaml:1:36: Cannot read pools.a.onRelease: "busy" is a state that only Berth gives ' +
      "(write free, or dirty if it must be cleaned first)",
    'berth.yaml:1:52: Cannot read pools.a.onExpire: "not a state" is not a state ' +
      "(start with a letter or digit, then letters, digits, . _ or -; at most 63)",
  ],
};

const aliases: Table = {
  "an alias to nothing": [
    "pools:\n  a: *b\n",
    "berth.yaml:2:6: Cannot read pools.a: no anchor is called b " +
      "(quote a text that begins with *, or write the anchor &b above this line)",
  ],
  "an anchor that contains itself": [
    "pools: &p\n  a: *p\n",
    expect.stringMatching(/^berth.yaml:2:3: Cannot read pools.a.a: there is no such key/),
    "berth.yaml:2:3: Cannot read pools.a: it has neither count nor members " +
      "(add count: 1, or members: and their names)",
  ],
};

const warnings: Table = {
  "a ttl that outlives its lease": [
    "pools: { a: { count: 1, ttl: 10m, lifetime: 5m } }",
    "berth.yaml:1:30: warning: pools.a.ttl: a job that falls silent is not noticed within the " +
      "lifetime of 5m (write a shorter ttl)",
  ],
  "a hold that outlives its lease": [
    "pools: { a: { count: 1, hold: 2h, lifetime: 1h } }",
    "berth.yaml:1:31: warning: pools.a.hold: it never ends before the lifetime of 1h does " +
      "(write a shorter hold, or none)",
  ],
  "an empty pool": [
    "pools:\n  a: { count: 0 }\n  b: { members: [] }\n",
    "berth.yaml:2:8: warning: pools.a.count: the pool has no resources, so every request for one " +
      "is refused (give it some, or remove the pool)",
    "berth.yaml:3:8: warning: pools.b.members: the pool has no resources, so every request for " +
      "one is refused (give it some, or remove the pool)",
  ],
  "a limit of nothing": [
    "pools: { a: { limit: 0 }, b: { count: 1, parent: a } }",
    "berth.yaml:1:22: warning: pools.a.limit: nothing of this pool, or of a pool below it, is ever " +
      "lent (write 1 or more, or remove the pool)",
  ],
  "no pools": [
    "pools: {}",
    "berth.yaml:1:1: warning: pools: there is nothing to lend (add a pool)",
  ],
  "a state one letter away from a usual one": [
    "pools: { a: { count: 1, onRelease: fre, onExpire: needs-reboot } }",
    'berth.yaml:1:36: warning: pools.a.onRelease: what is "fre" is not lent until somebody frees ' +
      "it (did you mean free?)",
  ],
  "words that others take for true or false": [
    "pools: { a: { members: [on, 'off'] } }",
    "berth.yaml:1:25: warning: pools.a.members[0]: other readers of YAML take on for true or " +
      'false (quote it: "on")',
  ],
};

const tables: Readonly<Record<string, Table>> = {
  files,
  keys,
  durations,
  sizes,
  names,
  aliases,
  warnings,
};

describe.each(Object.entries(tables))("parseConfig() tells, of %s,", (topic, table) => {
  test.each(Object.entries(table))("%s", (_, [text, ...want]) => {
    const config = parseConfig(text, "berth.yaml");
    expect(said(config)).toEqual(want);
    expect(config.ok).toBe(topic === "warnings");
  });
});

test("parseConfig() gives a pool without a policy the default one", () => {
  expect(pools("pools: { slot: { count: 2 } }")).toEqual([
    {
      name: "slot",
      policy: defaultPolicy,
      members: [
        { name: "slot-1", labels: {} },
        { name: "slot-2", labels: {} },
      ],
    },
  ]);
});

test("parseConfig() reads the keys of a policy", () => {
  const [pool] = pools(`
pools:
  slot:
    count: 1
    ttl: 90s
    lifetime: 4h
    hold: 20m
    cooldown: 10s
    lockDelay: 0
    patience: 1h30m
    onRelease: dirty
    onExpire: quarantined
`);
  expect(pool?.policy).toEqual({
    ...defaultPolicy,
    ttlMs: 90_000,
    lifetimeMs: 4 * 3_600_000,
    holdMs: 20 * 60_000,
    cooldownMs: 10_000,
    lockDelayMs: 0,
    patienceMs: 90 * 60_000,
    onRelease: "dirty",
    onExpire: "quarantined",
  });
});

test("parseConfig() treats expiry as a release, unless it is told otherwise", () => {
  const [pool] = pools("pools: { a: { count: 1, onRelease: dirty } }");
  expect(pool?.policy.onExpire).toBe("dirty");
});

test("parseConfig() reads members with labels, without any, and through an alias", () => {
  const [pool] = pools(`
pools:
  aws:
    members:
      aws-1: { labels: &east { region: us-east-1, "example.com/tier": "" } }
      aws-2: { labels: *east }
      aws-3: {}
      aws-4:
`);
  const east = { region: "us-east-1", "example.com/tier": "" };
  expect(pool?.members).toEqual([
    { name: "aws-1", labels: east },
    { name: "aws-2", labels: east },
    { name: "aws-3", labels: {} },
    { name: "aws-4", labels: {} },
  ]);
});

test("parseConfig() reads the initial user data of members", () => {
  const text = "pools: { a: { members: { x: { userData: { key: v, n: '1' } }, y: {} } } }";
  const config = parseConfig(text, "berth.yaml");
  expect(config.ok && config.pools[0]?.members).toEqual([
    { name: "x", labels: {}, userData: { key: "v", n: "1" } },
    { name: "y", labels: {} },
  ]);
});

test.each([
  ["userData: s3cret", "it is not a map of user data (write { region: eu-west-1 })"],
  ["userData: { key: [s3cret] }", "its value is not text (quote it)"],
  [
    String.raw`userData: { key: "s3cret\0" }`,
    'the value of "key" in its user data has a NUL character (fix it)',
  ],
])("parseConfig() refuses %s without its value", (written, message) => {
  const config = parseConfig(`pools: { a: { members: { x: { ${written} } } } }`, "berth.yaml");
  const problems = config.ok ? [] : config.problems.map(formatProblem);
  expect(problems).toEqual([expect.stringContaining(message)]);
  expect(problems.join()).not.toContain("s3cret");
});

test("parseConfig() takes keys as they are written, also where YAML sees no text", () => {
  const text = "pools: { 1.10: { count: 1 }, true: { count: 1 }, constructor: { count: 1 } }";
  expect(pools(text).map(({ name }) => name)).toEqual(["1.10", "true", "constructor"]);
});

test("parseConfig() keeps to YAML 1.2 below a directive for 1.1", () => {
  const text = '%YAML 1.1\n---\npools: { a: { members: ["no", 0o7-x] } }\n';
  expect(pools(text)[0]?.members.map(({ name }) => name)).toEqual(["no", "0o7-x"]);
});

test("parseConfig() reads JSON, a byte order mark and the line ends of Windows", () => {
  expect(pools('\uFEFF{\r\n"pools": {"a": {"count": 1}}\r\n}\r\n')).toHaveLength(1);
});

test("parseConfig() refuses aliases that unfold to more than a file can hold", () => {
  const labels = `&l { ${many(60, (i) => `k${i}: v`)} }`;
  const members = `&m { m: { labels: ${labels} }, ${many(999, (i) => `m${i}: { labels: *l }`)} }`;
  const others = many(900, (i) => `p${i}: { members: *m }`);
  const text = `pools: { p: { members: ${members} }, ${others} }`;
  expect(text.length).toBeLessThan(100_000);
  expect(said(parseConfig(text, "berth.yaml"))).toContainEqual(
    expect.stringMatching(/Cannot read the file: its aliases unfold to more than 200,000 values/),
  );
});

test("parseConfig() stops listing where nobody reads on", () => {
  const members = Array.from({ length: 1_500 }, (_, i) => `    - _${i}\n`).join("");
  const lines = said(parseConfig(`pools:\n  a:\n    members:\n${members}`, "berth.yaml"));
  expect(lines).toHaveLength(1_001);
  expect(lines.at(-1)).toMatch(/Cannot list the rest: there are more than 1,000 of these/);
});
