import { expect, test } from "vitest";
import { Authenticator } from "./authenticator.ts";
import { LastCallers, type Proven } from "./last-callers.ts";
import { otherToken, testAuth, testTokens } from "./test-tokens.suite.ts";

const proven = (name: string, facts: Partial<Proven> = {}): Proven => ({
  principal: { name, role: "holder", proof: "token" },
  untilMs: Number.POSITIVE_INFINITY,
  isCurrent: () => true,
  ...facts,
});

test("remembers the last caller of each connection", () => {
  const callers = new LastCallers();
  const [one, two] = [{}, {}];
  callers.remember(one, "Bearer a", proven("first"));
  callers.remember(two, "Bearer b", proven("second"));
  const recall = (connection: object, header: string) =>
    callers.recall(connection, header, 0)?.name;
  expect(recall(one, "Bearer a")).toBe("first");
  expect(recall(two, "Bearer b")).toBe("second");
  expect(recall(one, "Bearer b")).toBeUndefined();
  expect(recall(one, "Bearer aa")).toBeUndefined();
  // The same lower byte.
  expect(recall(one, `Bearer ${String.fromCharCode(0x161)}`)).toBeUndefined();
  callers.remember(one, "Bearer c", proven("third"));
  expect(recall(one, "Bearer a")).toBeUndefined();
  callers.forgetAll();
  expect(recall(one, "Bearer c")).toBeUndefined();
});

test.each([
  ["has expired", { untilMs: 1_000 }],
  ["has been withdrawn", { isCurrent: () => false }],
])("does not recall a proof that %s", (_, facts) => {
  const callers = new LastCallers();
  const connection = {};
  callers.remember(connection, "Bearer a", proven("first", facts));
  expect(callers.recall(connection, "Bearer a", 1_000)).toBeUndefined();
});

test("a connection may change its caller, and a removed token stops to work on it", () => {
  const auth = new Authenticator(testAuth);
  const connection = {};
  const call = (token: string) => auth.authenticate(`Bearer ${token}`, { connection });
  expect(call(testTokens.holder)).toMatchObject({ name: "holder" });
  expect(call(testTokens.holder)).toMatchObject({ name: "holder" });
  expect(call(otherToken)).toMatchObject({ name: "other", space: "other" });
  expect(call(testTokens.admin)).toMatchObject({ role: "admin" });
  auth.configure({ tokens: testAuth.tokens.filter(({ name }) => name !== "admin") });
  expect(() => call(testTokens.admin)).toThrow("does not know them");
  expect(call(testTokens.holder)).toMatchObject({ name: "holder" });
});

test("a token stops to work when it expires, also on an open connection", () => {
  let nowMs = 1_000;
  const tokens = testAuth.tokens.map((token) => ({ ...token, expiresAtMs: 2_000 }));
  const auth = new Authenticator({ tokens }, () => nowMs);
  const connection = {};
  const call = () => auth.authenticate(`Bearer ${testTokens.holder}`, { connection });
  expect(call()).toMatchObject({ name: "holder" });
  nowMs = 2_000;
  expect(call).toThrow("expired at");
});
