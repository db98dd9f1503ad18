import { describe, expect, test } from "vitest";
import { defaultPolicy } from "../core/model/policy.ts";
import { withExpiry } from "./check-pools.ts";
import { formatProblem, formatWarning } from "./document.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";

function pools(text: string) {
  const config = parseConfig(text, "boskos.yaml");
  if (!config.ok) throw new Error(config.problems.map(formatProblem).join("\n"));
  expect(config.format).toBe("boskos");
  return config.pools;
}

/** As Boskos prints what is wrong: one alone, several in brackets. */
function asBoskos(config: ParsedConfig): string {
  if (config.ok) return "";
  const messages = config.problems.map(({ message }) => message);
  return messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`;
}

const subdomain =
  "[a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " +
  "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for " +
  "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')]";

/** The rows V1 to V7 of Boskos's own tests, and the other rules that it has. */
const refused: Readonly<Record<string, readonly [resources: unknown, text: string]>> = {
  "V1 names in capitals": [
    [{ type: "t", names: ["Aws", "B_1"] }],
    `[.0.names.0(Aws) is invalid: ${subdomain}, .0.names.1(B_1) is invalid: ${subdomain}]`,
  ],
  "V2 a name written twice": [[{ type: "t", names: ["x", "x"] }], ".0.names.1(x) is a duplicate"],
  "V2 a name of another type": [
    [
      { type: "t", names: ["x"] },
      { type: "u", names: ["y", "x"] },
    ],
    ".1.names.1(x) is a duplicate",
  ],
  "V3 no type": [[{ names: ["x"] }], ".0.type: must be set"],
  "V4 neither names nor max-count nor type": [
    [{ state: "free" }],
    "[.0.type: must be set, .0.max-count: must be >0]",
  ],
  "V5 more at least than at most": [
    [{ "min-count": 2, "max-count": 1 }],
    "[.0.type: must be set, .0.min-count: must be <= .0.max-count]",
  ],
  "V6 names and counts": [
    [{ type: "t", names: ["x"], "min-count": 1, "max-count": 1 }],
    "[.0.min-count must be unset when the names property is set, " +
      ".0.max-count must be unset when the names property is set]",
  ],
  "V7 needs that cannot be met": [
    [
      { type: "type1", names: ["a", "b", "c"] },
      { type: "type2", "min-count": 1, "max-count": 4, needs: { type1: 1 } },
    ],
    "not enough resource of type type1 for provisioning",
  ],
  "needs of two types that add up": [
    [
      { type: "type1", "max-count": 3 },
      { type: "type2", "max-count": 2, needs: { type1: 1 } },
      { type: "type3", "max-count": 1, needs: { type1: 2 } },
    ],
    "not enough resource of type type1 for provisioning",
  ],
  "a need for what there is not": [
    [{ type: "t", "max-count": 1, needs: { u: 1 } }],
    "need for resource u that does not exist",
  ],
  "no entries": [[], "empty config"],
  "nothing at all": [null, "empty config"],
  "a name that is too long": [
    [{ type: "t", names: ["n".repeat(254)] }],
    `.0.names.0(${"n".repeat(254)}) is invalid: [must be no more than 253 characters]`,
  ],
  "a name that would break the line": [
    [{ type: "t", names: ["a\nb\u001b"] }],
    `.0.names.0(a\\nb\\u001b) is invalid: ${subdomain}`,
  ],
  "a negative max-count": [
    [{ type: "t", "min-count": -2, "max-count": -1 }],
    ".0.max-count: must be >0",
  ],
};

describe("parseConfig() of a Boskos file", () => {
  test.each(Object.entries(refused))("refuses %s in Boskos's words", (_, [resources, text]) => {
    expect(asBoskos(parseConfig(JSON.stringify({ resources }), "boskos.json"))).toBe(text);
  });

  test("tells the place of each problem", () => {
    const config = parseConfig(
      "resources:\n- type: a\n  names:\n  - x\n- names: [y,\n    x]\n",
      "boskos.yaml",
    );
    expect(config.ok ? [] : config.problems.map(formatProblem)).toEqual([
      "boskos.yaml:5:3: .1.type: must be set (name it)",
      "boskos.yaml:6:5: .1.names.1(x) is a duplicate (rename one of them)",
    ]);
  });

  test("V8 keeps the types in the order of the file", () => {
    const text =
      "resources: [{type: z, names: [a]}, {type: a, max-count: 1}, {type: m, names: [b]}]";
    expect(pools(text).map(({ name }) => name)).toEqual(["z", "a", "m"]);
  });

  test("reads static and dynamic entries, each with all that it can have", () => {
    const text = `---
resources:
- type: gcp-project
  state: dirty
  lifespan: 1h # Not looked at for static ones.
  names: [p-1, p-2, p-3, p-4, p-5, p-6]
- type: gke-cluster
  state: dirty
  min-count: 2
  max-count: 6
  lifespan: 12h
  needs: { gcp-project: 1 }
  config: { type: GkeMaker, content: "zone: b" }
`;
    const [project, cluster] = pools(text);
    expect(project).toMatchObject({ name: "gcp-project", policy: defaultPolicy });
    expect(project?.policy).not.toHaveProperty("dynamic");
    expect(project?.members).toHaveLength(6);
    expect(project?.members[0]).toEqual({ name: "p-1", labels: {}, state: "dirty" });
    expect(cluster).toEqual({
      name: "gke-cluster",
      policy: {
        ...defaultPolicy,
        dynamic: { min: 2, max: 6, state: "dirty", lifespanMs: 12 * 3_600_000 },
      },
      members: [],
    });
  });

  test("uses the first of several documents, as Boskos does, and warns of the others", () => {
    const config = parseConfig(
      "resources: [{ type: t, names: [a] }]\n---\nresources: [{ type: u, names: [b] }]\n",
      "boskos.yaml",
    );
    expect(config.ok && config.pools.map(({ name }) => name)).toEqual(["t"]);
    expect(config.ok && config.warnings.map(formatWarning)).toEqual([
      "boskos.yaml:2:1: warning: the file: a second document starts here and is not used, as in " +
        "Boskos (move its entries above the ---, or remove it)",
    ]);
  });

  test("reads the initial user data of each name", () => {
    const text = `resources:
- type: t
  names: [a, b]
  userdata: { a: { region: eu-west-1, key: "7" }, c: { key: x } }
`;
    expect(pools(text)[0]?.members).toEqual([
      { name: "a", labels: {}, userData: { region: "eu-west-1", key: "7" } },
      { name: "b", labels: {} },
    ]);
    const config = parseConfig(text, "boskos.yaml");
    expect(config.ok && config.warnings.map(formatWarning)).toEqual([
      'boskos.yaml:4:13: warning: resources[0].userdata: "c" is not one of the names ' +
        "(its user data is not used: fix the name, or remove it)",
    ]);
  });

  test.each(["userdata: s3cret", "userdata: { a: s3cret }", "userdata: { a: { key: [s3cret] } }"])(
    "refuses %s without its value",
    (written) => {
      const text = `resources: [{ type: t, names: [a], ${written} }]`;
      const config = parseConfig(text, "boskos.yaml");
      expect(config.ok).toBe(false);
      expect(JSON.stringify(config)).not.toContain("s3cret");
    },
  );

  test("reads the allowed states of all entries of a type", () => {
    const [pool] = pools(`resources:
- { type: t, names: [a], states: [free, dirty] }
- { type: t, names: [b], states: [free, leased] }
`);
    expect(pool?.policy.states).toEqual(["free", "dirty", "leased"]);
  });

  test("takes entries of one type together", () => {
    const [pool, ...others] = pools(`resources:
- { type: t, names: [a], state: dirty }
- { type: t, max-count: 9, state: dirty }
- { type: t, names: [b], state: free }
- { type: t, min-count: 1, max-count: 2 }
`);
    expect(others).toEqual([]);
    expect(pool?.members).toEqual([
      { name: "a", labels: {}, state: "dirty" },
      { name: "b", labels: {} },
    ]);
    expect(pool?.policy.dynamic).toEqual({ min: 1, max: 2, state: "free", lifespanMs: null });
  });

  test("takes as many types and resources as the largest installation has", () => {
    const resources = Array.from({ length: 240 }, (_, type) => {
      const names = Array.from({ length: 38 }, (_unused, name) => `region--slice-${type}--${name}`);
      return type % 6 === 0 ? { type: `t${type}`, "max-count": 50 } : { type: `t${type}`, names };
    });
    const found = pools(JSON.stringify({ resources }));
    expect(found).toHaveLength(240);
    expect(found.flatMap(({ members }) => members)).toHaveLength(200 * 38);
  });

  const lenient: Readonly<Record<string, string>> = {
    "keys in any case": "Resources: [{ TYPE: t, Names: [a] }]",
    "keys that nobody knows": "kind: x\nresources: [{ type: t, names: [a], colour: { red: 1 } }]",
    JSON: '{"resources": [{"type": "t", "names": ["a"], "min-count": 0, "config": null}]}',
    "a key written twice: the last counts": "resources: [{ type: u, type: t, names: [a] }]",
    "the exact key before others": "resources: [{ type: t, Type: u, names: [a] }]",
    "a document marker": "---\nresources:\n- type: t\n  names:\n  - a\n...\n",
    "what is empty": "resources: [{ type: t, names: [a], state: , needs: , lifespan: ~ }]",
    "a merge key": "base: &base { type: t, state: free }\nresources: [{ <<: *base, names: [a] }]",
    "merge keys that are overruled":
      "a: &a { type: u }\nb: &b { type: v }\nresources: [{ <<: [*a, *b], type: t, names: [a] }]",
  };

  test.each(Object.entries(lenient))("takes %s", (_, text) => {
    expect(pools(text)).toEqual([
      { name: "t", policy: defaultPolicy, members: [{ name: "a", labels: {} }] },
    ]);
  });

  test("takes numbers and booleans for text, and says so where they read otherwise", () => {
    const text = "resources: [{ type: 7, names: [1.10, 42, 'off'] }, { type: t, names: [no, y] }]";
    const named = pools(text).map(({ name, members }) => [name, ...members.map((m) => m.name)]);
    expect(named).toEqual([
      ["7", "1.1", "42", "off"],
      ["t", "false", "true"],
    ]);
    const config = parseConfig(text, "boskos.yaml");
    expect(config.ok && config.warnings.map(formatWarning)).toEqual([
      'boskos.yaml:1:32: warning: resources[0].names[0]: "1.10" is taken for "1.1", as Boskos ' +
        "takes it (quote it)",
      expect.stringContaining('"no" is taken for "false"'),
      expect.stringContaining('"y" is taken for "true"'),
    ]);
  });

  test.each([
    ["1000000000", 1_000],
    ["'90s'", 90_000],
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ["0", 0],
    ["-5m", 0],
  ])("reads the lifespan %s", (written, lifespanMs) => {
    const [pool] = pools(`resources: [{ type: t, max-count: 1, lifespan: ${written} }]`);
    expect(pool?.policy.dynamic?.lifespanMs).toBe(lifespanMs);
  });

  const unreadable: Readonly<Record<string, readonly [text: string, said: string]>> = {
    "a map of resources": [
      "resources: { aws: 1 }",
      "boskos.yaml:1:12: Cannot read resources: a map is not a list (write one item per line: - a)",
    ],
    "a word for an entry": [
      "resources: [aws]",
      'boskos.yaml:1:13: Cannot read resources[0]: "aws" is not a resource entry ' +
        "(write { type: my-type, names: [one] })",
    ],
    "a list for a type": [
      "resources: [{ type: [t], names: [a] }]",
      "boskos.yaml:1:21: Cannot read resources[0].type: a list is not a text " +
        "(write it on one line, or quote it)",
    ],
    "a count in quotes": [
      "resources: [{ type: t, max-count: '4' }]",
      'boskos.yaml:1:35: Cannot read resources[0].max-count: "4" is not a whole number ' +
        "(write it without quotes)",
    ],
    "a lifespan of days": [
      "resources: [{ type: t, max-count: 4, lifespan: 2d }]",
      'boskos.yaml:1:48: Cannot read resources[0].lifespan: time: unknown unit "d" in duration ' +
        '"2d" (write a number and a unit, such as 90s, 20m or 4h)',
    ],
    "a merge into itself": [
      "resources: [&a { <<: *a, type: t, names: [x] }]",
      expect.stringMatching(/: it is merged into itself \(write the keys out\)$/),
    ],
    "more than there may be": [
      "resources: [{ type: t, max-count: 2000000 }]",
      "boskos.yaml:1:1: Cannot read resources: it has 2,000,000 resources, and the limit is " +
        "1,000,000 (remove 1,000,000)",
    ],
  };

  test.each(Object.entries(unreadable))("refuses %s", (_, [text, said]) => {
    const config = parseConfig(text, "boskos.yaml");
    expect(config.ok ? [] : config.problems.map(formatProblem)).toEqual([said]);
  });

  test("takes a type of any name, and says what will be hard", () => {
    const config = parseConfig("resources: [{ type: my type/1, names: [a] }]", "boskos.yaml");
    expect(config.ok && config.pools[0]?.name).toBe("my type/1");
    expect(config.ok && config.warnings.map(formatWarning)).toEqual([
      'boskos.yaml:1:21: warning: resources[0].type: "my type/1" cannot be asked for with berth run ' +
        "or berth acquire (Boskos's clients can; otherwise use letters, digits, . _ and -)",
    ]);
  });
});

describe("withExpiry()", () => {
  const expiry = { afterMs: 60_000, to: "dirty", moreStates: ["testing"] };
  const silence = { afterMs: 60_000, to: "dirty" };

  function good(text: string) {
    const config = parseConfig(text, "berth.yaml");
    if (!config.ok) throw new Error(asBoskos(config));
    return config;
  }

  test("gives every pool of a Boskos file the reaper's states and those asked for", () => {
    const { pools: found } = withExpiry(good("resources: [{ type: t, names: [a] }]"), expiry);
    expect(found[0]?.policy.silence).toEqual({
      busy: silence,
      cleaning: silence,
      leased: silence,
      testing: silence,
    });
  });

  test("leaves everything as it is unless asked, and in a file of Berth's own", () => {
    const boskos = good("resources: [{ type: t, names: [a] }]");
    expect(withExpiry(boskos, undefined)).toBe(boskos);
    const own = good("pools: { t: { count: 1 } }");
    expect(withExpiry(own, expiry)).toBe(own);
  });
});
