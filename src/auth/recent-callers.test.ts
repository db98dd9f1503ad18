import { expect, test } from "vitest";
import { Authenticator } from "./authenticator.ts";
import { type Proven, RecentCallers } from "./recent-callers.ts";
import { otherToken, testAuth, testTokens } from "./test-tokens.suite.ts";

const proven = (name: string, facts: Partial<Proven> = {}): Proven => ({
  principal: { name, role: "holder", proof: "token" },
  untilMs: Number.POSITIVE_INFINITY,
  isCurrent: () => true,
  ...facts,
});

test("remembers callers by the whole of their headers", () => {
  const callers = new RecentCallers();
  const long = (first: string) => `Bearer ${first}-and-the-same-end-of-a-long-token`;
  callers.remember("Bearer a", proven("first"), 0);
  callers.remember("Bearer b", proven("second"), 0);
  callers.remember(long("a"), proven("third"), 0);
  const recall = (header: string) => callers.recall(header, 0)?.name;
  expect(["Bearer a", "Bearer b", long("a")].map(recall)).toEqual(["first", "second", "third"]);
  // Others with the same end, length or lower bytes.
  const others = [long("b"), "Bearer c", "Bearer aa", `Bearer ${String.fromCharCode(0x161)}`];
  expect(others.map(recall)).toEqual([undefined, undefined, undefined, undefined]);
  // Two headers with the same key.
  callers.remember(long("b"), proven("fourth"), 0);
  expect([long("a"), long("b")].map(recall)).toEqual([undefined, "fourth"]);
  callers.forgetAll();
  expect(recall("Bearer a")).toBeUndefined();
});

test("forgets callers who do not call for two minutes, or if there are too many", () => {
  const callers = new RecentCallers();
  const recall = (header: string, nowMs: number) => callers.recall(header, nowMs)?.name;
  callers.remember("Bearer a", proven("first"), 1_000_000);
  callers.remember("Bearer b", proven("second"), 1_000_000);
  for (let minute = 1; minute <= 3; minute++) {
    expect(recall("Bearer a", 1_000_000 + minute * 60_000)).toBe("first");
  }
  expect(recall("Bearer b", 1_180_000)).toBeUndefined();
  expect(recall("Bearer a", 2_000_000)).toBeUndefined();
  const many = Array.from({ length: 5_000 }, (_, at) => `Bearer token-${at}`);
  for (const header of many) callers.remember(header, proven(header), 2_000_000);
  expect(many.filter((header) => recall(header, 2_000_000) !== undefined).length).toBeLessThan(
    4_100,
  );
  const huge = `Bearer ${"x".repeat(5_000)}`;
  callers.remember(huge, proven("huge"), 2_000_000);
  expect(recall(huge, 2_000_000)).toBeUndefined();
});

test.each([
  ["has expired", { untilMs: 1_000 }],
  ["has been withdrawn", { isCurrent: () => false }],
])("does not recall a proof that %s", (_, facts) => {
  const callers = new RecentCallers();
  callers.remember("Bearer a", proven("first", facts), 1_000);
  expect(callers.recall("Bearer a", 1_000)).toBeUndefined();
});

test("a removed token stops to work, also if its caller has just called", () => {
  const auth = new Authenticator(testAuth);
  const call = (token: string) => auth.authenticate(`Bearer ${token}`);
  expect(call(testTokens.holder)).toMatchObject({ name: "holder" });
  expect(call(testTokens.holder)).toMatchObject({ name: "holder" });
  expect(call(otherToken)).toMatchObject({ name: "other", space: "other" });
  expect(call(testTokens.admin)).toMatchObject({ role: "admin" });
  auth.configure({ tokens: testAuth.tokens.filter(({ name }) => name !== "admin") });
  expect(() => call(testTokens.admin)).toThrow("does not know them");
  expect(call(testTokens.holder)).toMatchObject({ name: "holder" });
});

test("a token stops to work when it expires, also if its caller has just called", () => {
  let nowMs = 1_000;
  const tokens = testAuth.tokens.map((token) => ({ ...token, expiresAtMs: 2_000 }));
  const auth = new Authenticator({ tokens }, () => nowMs);
  const call = () => auth.authenticate(`Bearer ${testTokens.holder}`);
  expect(call()).toMatchObject({ name: "holder" });
  nowMs = 2_000;
  expect(call).toThrow("expired at");
});
