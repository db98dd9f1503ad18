import { describe, expect, test } from "vitest";
import { tokenHash } from "../auth/static-tokens.ts";
import { formatWarning } from "./document.ts";
import { parseConfig } from "./parse.ts";

const pools = "pools: { a: { count: 3 } }\n";
const sha256 = tokenHash("secret");
const tokenOf = (space: string, more = "") =>
  `{ name: ci, sha256: ${sha256}, space: ${space}, role: holder${more} }`;
const issuerOf = (space: string) =>
  `{ issuer: "https://ci.example", audience: b, rules: [{ claims: { sub: x }, space: ${space}, role: holder }] }`;
const ownAuth = `auth: { tokens: [${tokenOf("web")}] }`;

function warningsOf(text: string): string[] {
  const config = parseConfig(`${pools}${text}`, "f");
  expect(config).toMatchObject({ ok: true });
  return config.ok ? config.warnings.map(formatWarning) : [];
}

describe("warnOfAccess() warns of", () => {
  const dubious: Record<string, [text: string, warning: string]> = {
    "a token whose space is not listed": [
      `auth: { tokens: [${tokenOf("wbe")}] }\nspaces: { web: }`,
      'auth.tokens[0].space: spaces has no "wbe", so that its requests are refused (did you mean web?)',
    ],
    "a rule whose space is not listed": [
      `auth: { issuers: [${issuerOf("payments")}] }\nspaces: { web: }`,
      'auth.issuers[0].rules[0].space: spaces has no "payments", so that its requests are refused (add it',
    ],
    "a certificate whose space is not listed": [
      "auth: { certificates: [{ subject: CN=ci, space: payments, role: holder }] }\nspaces: { web: }",
      'auth.certificates[0].space: spaces has no "payments"',
    ],
    "anonymous callers whose space is not listed": [
      "auth: { anonymous: { space: public, role: viewer } }\nspaces: { web: }",
      'auth.anonymous.space: spaces has no "public"',
    ],
    "a token that has expired": [
      `auth: { tokens: [${tokenOf("web", ", expires: 2020-01-01")}] }`,
      'auth.tokens[0].expires: the token of "ci" has expired',
    ],
    "an empty auth": ["auth: {}", "auth: nobody can call the server"],
    "an empty list of tokens": ["auth: { tokens: [] }", "auth: nobody can call the server"],
    "spaces without auth": ["spaces: { web: }", "spaces: it has no effect without auth"],
    "spaceDefaults without auth": ["spaceDefaults: {}", "spaceDefaults: it has no effect without"],
    "a quota above the size of its pool": [
      `${ownAuth}\nspaces: { web: { quota: { a: 4 } } }`,
      "spaces.web.quota.a: the pool has only 3, so this quota has no effect",
    ],
  };
  test.each(Object.entries(dubious))("%s", (_, [text, warning]) => {
    expect(warningsOf(text)).toEqual([expect.stringContaining(warning)]);
  });
});

describe("warnOfAccess() accepts", () => {
  const good: Record<string, string> = {
    "a space that is listed": `${ownAuth}\nspaces: { web: { quota: { a: 3 } } }`,
    "any space with spaceDefaults": `${ownAuth}\nspaces: { a: }\nspaceDefaults: {}`,
    "any space without spaces": ownAuth,
    "a space with a claim": `auth: { issuers: [${issuerOf('"{sub}"')}] }\nspaces: { web: }`,
    "a token that expires later": `auth: { tokens: [${tokenOf("a", ", expires: 9999-01-01")}] }`,
  };
  test.each(Object.entries(good))("%s", (_, text) => {
    expect(warningsOf(text)).toEqual([]);
  });
});

describe("warnOfAccess(), where a pool has preempt,", () => {
  const anyPriority = (who: string) =>
    `requests of ${who} may have any priority, and so end the leases of others in a (give each`;
  test.each([
    ["", anyPriority("a space that is not listed")],
    ["spaces: { web: }", anyPriority('"web"')],
    ["spaces: { web: { priority: 5 } }", undefined],
    [
      "spaces: { web: { priority: 5 } }\nspaceDefaults: {}",
      anyPriority("a space that is not listed"),
    ],
    ["spaces: { web: { priority: 5 } }\nspaceDefaults: { priority: 0 }", undefined],
  ])("and the file has %j, warns: %s", (spaces, warning) => {
    const file = `pools: { a: { count: 3, preempt: true } }\n${ownAuth}\n${spaces}`;
    const config = parseConfig(file, "f");
    const warnings = config.ok ? config.warnings.map(formatWarning) : ["refused"];
    expect(warnings).toEqual(warning === undefined ? [] : [expect.stringContaining(warning)]);
  });
});

test("knownPoolsOf() never throws for an overcommit that is refused", () => {
  const member = "{ capacity: { cpu: 10 }, overcommit: { cpu: x } }";
  const file = `pools: { b: { place: pack, members: { m: ${member} } } }\nspaces: { web: }`;
  expect(parseConfig(file, "f")).toMatchObject({ ok: false });
});

describe("knownPoolsOf()", () => {
  const sized: Record<string, [pool: string, quota: string, warnings: string[]]> = {
    "uses the limit of a pool": ["{ count: 9, limit: 2 }", "3", ["the pool has only 2,"]],
    "uses the most that a dynamic pool can have": ["{ dynamic: { min: 1, max: 5 } }", "5", []],
    "sums the amounts of a shared pool, with its overcommit": [
      '{ place: pack, members: { m: { capacity: { cpu: 10 }, overcommit: { cpu: "1.5" } } } }',
      "{ cpu: 16 }",
      ["the pool has only 15,"],
    ],
    "does not limit the number of claims in a shared pool": [
      "{ place: pack, members: { m: { capacity: { cpu: 10 } } } }",
      "5",
      [],
    ],
    "uses the most clusters that a pool may make": [
      "{ template: t, max: 5 }",
      "6",
      ["the pool has only 5,"],
    ],
    "accepts any quota for a pool that may make any number of clusters": [
      "{ template: t, size: 2 }",
      "9",
      [],
    ],
  };
  test.each(Object.entries(sized))("%s", (_, [pool, quota, warnings]) => {
    const spaces = `spaces: { web: { quota: { b: ${quota} } } }`;
    const templates = pool.includes("template") ? "templates: { t: { driver: namespace } }\n" : "";
    const file = `pools: { b: ${pool} }\n${templates}${ownAuth}\n${spaces}`;
    const config = parseConfig(file, "f");
    expect(config.ok ? config.warnings.map(formatWarning) : config).toEqual(
      warnings.map((warning) => expect.stringContaining(warning)),
    );
  });
});
