import { describe, expect, test } from "vitest";
import { formatPath, formatProblem, formatWarning, type Path } from "./document.ts";
import { parseConfig } from "./parse.ts";

const paths: readonly (readonly [Path, string])[] = [
  [[], ""],
  [["pools", "aws", "ttl"], "pools.aws.ttl"],
  [["pools", "aws", "members", 2], "pools.aws.members[2]"],
  [["pools", "1.10", "ttl"], 'pools["1.10"].ttl'],
  [["", "a\nb"], '[""]["a\\nb"]'],
  [["pools", "a\u202eb\u009b"], 'pools["a\\u202eb\\u009b"]'],
];

test.each(paths)("formatPath() writes %j as %s", (path, want) => {
  expect(formatPath(path)).toBe(want);
});

test("formatProblem() names no place in a file that could not be read", () => {
  const problem = { file: "b.yaml", path: "", message: "Cannot read the file", hint: "look" };
  expect(formatProblem({ ...problem, line: 0, column: 0 })).toBe(
    "b.yaml: Cannot read the file (look)",
  );
  expect(formatProblem({ ...problem, line: 7, column: 12 })).toBe(
    "b.yaml:7:12: Cannot read the file (look)",
  );
});

const messagesOf = (text: string): string[] => {
  const config = parseConfig(text, "f");
  return config.ok ? config.warnings.map(formatWarning) : config.problems.map(formatProblem);
};

describe("no message repeats a value that may be a secret, and each has a place:", () => {
  const rest = "pools: { a: { count: 1 } }\n";
  const member = (userData: string) =>
    `pools: { a: { members: { m: { userData: ${userData} } } } }`;
  const janitor = (text: string) => `pools: { a: { count: 1, janitor: { ${text} } } }`;
  const signIn = (secret: string) =>
    `${rest}auth: { issuers: [{ issuer: https://c, signIn: { client: x, secret: ${secret} }, ` +
    "rules: [{ claims: { a: b }, space: a, role: viewer }] }] }";
  const template = (text: string) =>
    `${rest}templates: { t: { driver: command, command: [./x], ${text} } }`;
  const texts: readonly string[] = [
    member("hunter2"),
    member("[hunter2]"),
    member("{ password: [hunter2] }"),
    member("{ password: *hunter2 }"),
    member("{ password: !hunter2 x }"),
    member('{ password: "hunter2\\0" }'),
    member('{ password: "\\hunter2" }'),
    "pools:\n  a:\n    members:\n      m:\n        userData:\n          password: |hunter2\n",
    "pools:\n  a:\n    members:\n      m:\n        userData:\n          password: >hunter2\n",
    `${rest}auth: hunter2`,
    `${rest}auth: { tokens: hunter2 }`,
    `${rest}auth: { tokens: [hunter2] }`,
    `${rest}auth: { tokens: [{ name: a, sha256: hunter2, space: a, role: viewer }] }`,
    `${rest}auth: { issuers: [{ issuer: "https://me:hunter2@c", audience: a, rules: [] }] }`,
    `${rest}auth: { issuers: [{ issuer: "https://c?key=hunter2", audience: a, rules: [] }] }`,
    signIn("hunter2"),
    signIn("{ env: hunter2-x }"),
    signIn("{ env: 7hunter2 }"),
    template("credentials: hunter2"),
    template("credentials: { aws: hunter2 }"),
    template("credentials: { aws: { env: hunter2-x } }"),
    janitor('command: [x], env: { TOKEN: "hunter2\\0" }'),
    janitor("command: [x], env: hunter2"),
    `${rest}hubs: { h: { kubeconfig: [hunter2] } }`,
    `Resources: [{ type: a, names: [x], UserData: { x: hunter2 } }]`,
  ];

  test.each(texts)("%s", (text) => {
    const messages = messagesOf(text);
    expect(messages.join()).not.toContain("hunter2");
    expect(messages).not.toHaveLength(0);
    for (const message of messages) expect(message).toMatch(/^f:\d+:\d+: .+ \(.+\)$/);
  });
});

test.each([
  ["pools: { a: { ttl: [] } }", "a list is not a duration"],
  ["pools: { a: { count: 1, adaptive: 1 } }", "1 is not an adaptive rate"],
  ["pools: { a: { ttl: no\u202egnihton } }", '"no\\u202egnihton" is not a duration'],
  ["pools: { a: { ttl: no\u200bthing } }", '"no\\u200bthing" is not a duration'],
  ['pools: { a: { ttl: "\\x9b31m" } }', '"\\u009b31m" is not a duration'],
])("%j: %s", (text, message) => {
  expect(messagesOf(text).join()).toContain(message);
});
