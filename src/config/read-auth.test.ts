import { describe, expect, test } from "vitest";
import { tokenHash } from "../auth/static-tokens.ts";
import { formatProblem, formatWarning } from "./document.ts";
import { parseConfig } from "./parse.ts";

const pools = "pools: { a: { count: 1 } }\n";
const read = (auth: string) => parseConfig(`${pools}auth: ${auth}`, "f");
const sha256 = tokenHash("secret");
const token = `{ name: ci, sha256: ${sha256}, space: team, role: holder }`;

describe("auth:", () => {
  test("lists tokens by their hash, and says who callers without credentials are", () => {
    const more = `{ name: me, sha256: ${tokenHash("x")}, space: ops, role: admin, expires: 2027-01-31 }`;
    const anonymous = "{ space: public, role: viewer }";
    expect(read(`{ tokens: [${token}, ${more}], anonymous: ${anonymous} }`)).toMatchObject({
      ok: true,
      auth: {
        tokens: [
          { name: "ci", sha256, space: "team", role: "holder" },
          { name: "me", role: "admin", expiresAtMs: Date.parse("2027-01-31") },
        ],
        anonymous: { name: "anonymous", space: "public", role: "viewer" },
      },
    });
    expect(parseConfig(pools, "f")).toMatchObject({ auth: undefined });
  });

  test("stands beside Boskos's resources as well", () => {
    const boskos = "resources: [{ type: aws, state: free, names: [one] }]";
    expect(parseConfig(`${boskos}\nauth: { tokens: [${token}] }`, "b.yaml")).toMatchObject({
      format: "boskos",
      auth: { tokens: [{ name: "ci" }] },
    });
  });

  test("warns if anyone would be an operator", () => {
    const config = read("{ anonymous: { space: a, role: operator } }");
    expect(config.ok ? config.warnings.map(formatWarning) : []).toEqual([
      expect.stringContaining("anyone who reaches the server would be operator"),
    ]);
  });

  const wrong: Record<string, [string, string]> = {
    "a key that there is not": ["{ token: [] }", "there is no such key (write tokens)"],
    "a token that is no map": ["{ tokens: [x] }", "auth.tokens[0]"],
    "a token without a role": [
      `{ tokens: [{ name: ci, sha256: ${sha256}, space: a }] }`,
      "auth.tokens[0]: it has no role",
    ],
    "a role that there is not": [
      `{ tokens: [{ name: ci, sha256: ${sha256}, space: a, role: holders }] }`,
      'there is no role "holders" (did you mean holder?)',
    ],
    "the token itself": [
      "{ tokens: [{ name: ci, sha256: berth_abc, space: a, role: holder }] }",
      "auth.tokens[0].sha256: it is the token itself, which is exposed now (make a new one",
    ],
    "a hash in capital letters": [
      `{ tokens: [{ name: ci, sha256: ${sha256.toUpperCase()}, space: a, role: holder }] }`,
      "it is not a SHA-256 (write the 64 digits, 0-9 and small a-f, that berth token new prints)",
    ],
    "two tokens with one hash": [`{ tokens: [${token}, ${token}] }`, "has the same sha256"],
    "a time that there is not": [
      `{ tokens: [{ name: ci, sha256: ${sha256}, space: a, role: holder, expires: 2027-02-99 }] }`,
      '"2027-02-99" is not a time',
    ],
    "a date that there is not": [
      `{ tokens: [{ name: ci, sha256: ${sha256}, space: a, role: holder, expires: 2027-02-30 }] }`,
      '"2027-02-30" is not a time',
    ],
    "a space that is no name": [
      "{ anonymous: { space: 'a b', role: viewer } }",
      '"a b" is not a name',
    ],
  };

  test.each(Object.entries(wrong))("is refused with %s", (_, [auth, message]) => {
    const config = read(auth);
    const text = config.ok ? "" : config.problems.map(formatProblem).join("\n");
    expect(text).toContain(message);
    expect(text).not.toContain("berth_abc");
  });
});
