import { expect, test } from "vitest";
import { testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { SecretSearch } from "./secret-search.suite.ts";
import { askBody, asLease, testSite } from "./test-site.suite.ts";

const basic = `Basic ${Buffer.from("ci:password-0123456789").toString("base64")}`;

test.each([
  ["a token that was sent", "Bearer token-0123456789abc", {}, '"token":"token-0123456789abc"'],
  ["a password", basic, {}, "wrong: password-0123456789"],
  ["the token of a lease", undefined, { token: "lease-0123456789abc" }, "?t=lease-0123456789abc"],
  ["the signature of a JWT", `Bearer a.b.${"s".repeat(40)}`, {}, `a.b.${"s".repeat(40)}`],
  [
    "what looks like one",
    undefined,
    {},
    `eyJ${"a".repeat(9)}.eyJ${"b".repeat(9)}.${"c".repeat(9)}`,
  ],
])("check() finds %s", (_, authorization, body, text) => {
  const search = new SecretSearch();
  search.watchCall(authorization, body);
  expect(() => search.check({ log: "nothing", events: text })).toThrow(
    "A secret was written down: the events of the server has",
  );
});

test("a test fails whose server has written a token into its journal, its log or its metrics", async () => {
  const site = await testSite([pool("aws", 1)], {}, undefined, testAuth);
  const token = testTokens.holder;
  const lease = asLease(await site.call("POST /v1/leases", { token, body: askBody("aws") }));
  const body = { note: `do not write ${lease.token}` };
  await site.call("PATCH /v1/resources/aws-1", { token: testTokens.operator, body });
  await expect(site[Symbol.asyncDispose]()).rejects.toThrow("the journal of the server has");
});
