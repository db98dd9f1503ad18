import { describe, expect, test } from "vitest";
import { audiencesOf } from "../auth/issuer-spec.ts";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

const rules = "[{ claims: { groups: ops }, space: ops, role: operator }]";
const read = (signIn: string, more = "") =>
  parseConfig(
    `pools: { a: { count: 1 } }\nauth: { issuers: [{ issuer: https://login.example.org/acme, ${more}signIn: ${signIn}, rules: ${rules} }] }`,
    "f",
  );
const issuerOf = (config: ReturnType<typeof read>) => {
  const issuer = config.ok ? config.auth?.issuers?.[0] : undefined;
  if (issuer === undefined) throw new Error("It was not read");
  return issuer;
};

describe("auth.issuers[].signIn:", () => {
  test("has defaults, and its clients are audiences", () => {
    const issuer = issuerOf(read("{ client: berth, cliClient: berth-cli }"));
    expect(issuer.signIn).toEqual({
      title: "login.example.org",
      client: "berth",
      cliClient: "berth-cli",
      scopes: ["openid", "profile", "email"],
    });
    expect(audiencesOf(issuer)).toEqual(["berth", "berth-cli"]);
    const both = issuerOf(read("{ cliClient: cli }", "audience: https://b, "));
    expect(audiencesOf(both)).toEqual(["https://b", "cli"]);
  });

  test("names where the secret is, and never has it", () => {
    const written = "client: b, scopes: [openid, groups], title: Acme account, session: 8h";
    expect(issuerOf(read(`{ ${written}, secret: { env: S } }`)).signIn).toEqual({
      client: "b",
      secret: { type: "variable", name: "S" },
      scopes: ["openid", "groups"],
      title: "Acme account",
      sessionMs: 8 * 3_600_000,
    });
    const file = issuerOf(read("{ client: b, secret: { file: x.secret } }")).signIn?.secret;
    expect(file).toEqual({ type: "file", path: "x.secret" });
  });

  test.each([
    ["{}", "it has neither client nor cliClient"],
    ["berth", "is not a map with client or cliClient"],
    ["{ client: b, secret: hunter2 }", "the secret itself must not stand here"],
    ["{ client: b, secret: {} }", "it has neither env nor file"],
    ["{ client: b, secret: { env: S, file: f } }", "it has both env and file"],
    ["{ client: b, secret: { env: not-a-name } }", "is not a name of a variable"],
    ["{ cliClient: b, secret: { env: S } }", "there is no client that the secret belongs to"],
    ["{ client: b, scopes: groups }", "is not a list of scopes"],
    ['{ client: b, scopes: ["a b"] }', "is not a scope"],
    ["{ client: b, session: 2d }", "2d is longer than is allowed"],
    ["{ client: b, clientSecret: x }", "there is no such key"],
  ])("%s is refused", (signIn, message) => {
    const config = read(signIn);
    expect(config.ok ? "" : config.problems.map(formatProblem).join("\n")).toContain(message);
  });

  test("needs keys: no cluster is asked about people", () => {
    const config = read("{ client: b }", "tokenReview: {}, ");
    const problems = config.ok ? "" : config.problems.map(formatProblem).join("\n");
    expect(problems).toContain("the issuer has tokenReview as well");
  });
});
