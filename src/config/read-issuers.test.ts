import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatProblem, formatWarning } from "./document.ts";
import { loadConfig } from "./load.ts";
import { parseConfig } from "./parse.ts";

const pools = "pools: { a: { count: 1 } }\n";
const read = (issuers: string) => parseConfig(`${pools}auth: { issuers: ${issuers} }`, "f");
const github = "https://token.actions.githubusercontent.com";
const rules = "[{ claims: { repository_owner: acme }, space: ci, role: holder }]";
const withRules = (text: string, issuer = github) =>
  `[{ issuer: ${issuer}, audience: https://b, rules: ${text} }]`;
const withKeys = (text: string, issuer = "https://c") =>
  `[{ issuer: ${issuer}, audience: https://b, ${text}, rules: ${rules} }]`;
const withRule = (text: string) => withRules(`[{ ${text} }]`, "https://c");

describe("auth.issuers:", () => {
  test("names the issuer, the audience, and who its tokens are", () => {
    const rule =
      '{ claims: { repository_owner: acme, ref: "refs/heads/*" }, space: "{repository_owner}", ' +
      'role: holder, name: "{repository}" }';
    const config = read(withRules(`[${rule}]`));
    expect(config).toMatchObject({
      ok: true,
      warnings: [],
      auth: {
        tokens: [],
        issuers: [
          {
            issuer: github,
            audience: "https://b",
            proof: { type: "discovery" },
            rules: [
              {
                claims: { repository_owner: "acme", ref: "refs/heads/*" },
                space: "{repository_owner}",
                role: "holder",
                name: "{repository}",
              },
            ],
          },
        ],
      },
    });
  });

  test.each([
    ["jwks: { url: https://c/keys }", { type: "keys-url", url: "https://c/keys" }],
    ["jwks: { file: keys.json }", { type: "keys-file", path: "keys.json" }],
    ["tokenReview: {}", { type: "token-review" }],
    [
      "tokenReview: { kubeconfig: /k, context: ci }",
      { type: "token-review", kubeconfig: "/k", context: "ci" },
    ],
  ])("%s says how tokens are verified", (text, proof) => {
    expect(read(withKeys(text))).toMatchObject({ ok: true, auth: { issuers: [{ proof }] } });
  });

  test.each([
    ["http://127.0.0.1:8080", ""],
    ["http://localhost", ""],
    ["http://[::1]:1", ""],
    ["http://cluster.local", "jwks: { file: keys.json }, "],
    ["http://cluster.local", "tokenReview: {}, "],
  ])("%s is accepted with %j", (issuer, more) => {
    const text = `[{ issuer: "${issuer}", audience: b, ${more}rules: ${rules} }]`;
    expect(read(text)).toMatchObject({ ok: true });
  });

  test("the same issuer may stand twice with different keys: two clusters", () => {
    const cluster = (file: string) =>
      `{ issuer: https://c, audience: b, jwks: { file: ${file} }, rules: ${rules} }`;
    expect(read(`[${cluster("one")}, ${cluster("two")}]`)).toMatchObject({ ok: true });
    const twice = read(`[${cluster("one")}, ${cluster("one")}]`);
    expect(twice.ok ? "" : twice.problems.map(formatProblem).join()).toContain(
      "auth.issuers[1]: line 2 has the same issuer, audience and keys",
    );
  });

  test("a file with keys is relative to the configuration, and one that cannot be used warns", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-issuers-"));
    const path = join(folder, "berth.yaml");
    writeFileSync(join(folder, "good.json"), '{ "keys": [] }');
    writeFileSync(join(folder, "bad.json"), "[]");
    const load = async (file: string) => {
      writeFileSync(path, `${pools}auth: { issuers: ${withKeys(`jwks: { file: ${file} }`)} }`);
      const config = await loadConfig(path);
      if (!config.ok) throw new Error(config.problems.map(formatProblem).join("\n"));
      const { proof } = config.auth?.issuers?.[0] ?? {};
      return { proof, warnings: config.warnings.map(formatWarning).join("\n") };
    };
    expect(await load("good.json")).toEqual({
      proof: { type: "keys-file", path: join(folder, "good.json") },
      warnings: "",
    });
    expect((await load("bad.json")).warnings).toContain("the file has no list of keys");
    expect((await load("none.json")).warnings).toContain("there is no such file");
  });

  test.each([
    ["{ ref: refs/heads/main }", github],
    ['{ repository_owner: "*" }', github],
    ['{ sub: "repo:*" }', github],
    ['{ ref_protected: "true" }', "https://gitlab.com"],
  ])("warns if anyone may match: %s at %s", (claims, issuer) => {
    const config = read(withRules(`[{ claims: ${claims}, space: a, role: holder }]`, issuer));
    expect(config.ok ? config.warnings.map(formatWarning) : []).toEqual([
      expect.stringContaining(`anyone with an account at ${issuer} may match this rule`),
    ]);
  });

  test.each([
    ["admin", ["every token of the issuer would be admin"]],
    ["holder", []],
  ])("warns if every token would be an operator or more: %s", (role, expected) => {
    const config = read(withRule(`claims: { sub: "*", team: "*" }, space: a, role: ${role}`));
    const warnings = config.ok ? config.warnings.map(formatWarning) : ["not read"];
    expect(warnings).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  const wrong: Record<string, [string, string]> = {
    "no list": ["{ issuer: https://c }", "auth.issuers: a map is not a list of issuers"],
    "an issuer that is no map": ["[x]", 'auth.issuers[0]: "x" is not a token issuer'],
    "no audience": [`[{ issuer: https://c, rules: ${rules} }]`, "it has no audience"],
    "no rules": ["[{ issuer: https://c, audience: b }]", "it has no rules"],
    "an empty list of rules": [withRules("[]"), "auth.issuers[0].rules: it has no rule"],
    "a key that there is not": [withKeys("jkws: {}"), "there is no such key (write jwks)"],
    "an issuer that is no URL": [withRules(rules, "github"), '"github" is not a URL'],
    "an issuer with a user": [withRules(rules, "https://me@c"), "is not a URL"],
    "an issuer with a query": [withRules(rules, '"https://c?x"'), "is not a URL"],
    "an issuer that others can imitate": [
      withRules(rules, "http://example.org"),
      '"http://example.org" is not https, so others could replace the keys on the way (use https',
    ],
    "an issuer that only looks like loopback": [
      withRules(rules, "http://127.evil.example"),
      "is not https",
    ],
    "keys that others can replace": [
      withKeys("jwks: { url: http://example.org/keys }"),
      "auth.issuers[0].jwks.url",
    ],
    "an open issuer whose keys are elsewhere": [
      withKeys("jwks: { url: https://c/keys }", "http://example.org"),
      "auth.issuers[0].issuer",
    ],
    "keys at two places": [
      withKeys("jwks: { url: https://c, file: x }"),
      "it has both url and file",
    ],
    "keys nowhere": [withKeys("jwks: {}"), "it has neither url nor file"],
    "keys and a review": [
      withKeys("jwks: { file: x }, tokenReview: {}"),
      "auth.issuers[0].tokenReview: the issuer has jwks as well",
    ],
    "a rule without a role": [withRule("claims: { a: b }, space: c"), "it has no role"],
    "a role that there is not": [
      withRule("claims: { a: b }, space: c, role: holders"),
      'there is no role "holders" (did you mean holder?)',
    ],
    "a rule that matches everything": [
      withRule("claims: {}, space: c, role: holder"),
      "auth.issuers[0].rules[0].claims: every token would match",
    ],
    "a pattern that is no text": [
      withRule("claims: { a: true }, space: c, role: holder"),
      'rules[0].claims.a: true is a boolean, not a pattern (quote it: "true")',
    ],
    "a space without quotes": [
      withRule("claims: { a: b }, space: {team}, role: holder"),
      "rules[0].space: a map is not a space (start with a letter or digit",
    ],
    "a space that cannot be one": [
      withRule('claims: { a: b }, space: "{team}/x", role: holder'),
      '"{team}/x" is not a space',
    ],
    "a brace that is never closed": [
      withRule('claims: { a: b }, space: "{team", role: holder'),
      '"{team" is not a space',
    ],
    "braces around nothing": [
      withRule('claims: { a: b }, space: x, role: holder, name: "{}"'),
      '"{}" is not a name',
    ],
  };

  test.each(Object.entries(wrong))("is refused with %s", (_, [issuers, message]) => {
    const config = read(issuers);
    expect(config.ok ? "" : config.problems.map(formatProblem).join("\n")).toContain(message);
  });
});
