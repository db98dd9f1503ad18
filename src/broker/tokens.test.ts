import { expect, test } from "vitest";
import type { RequestId } from "../core/model/ids.ts";
import { Tokens } from "./tokens.ts";

const a = "a" as RequestId;
const b = "b" as RequestId;

test("of() tells the same token for the same lease, also after a restart", () => {
  const tokens = new Tokens("secret");
  expect(tokens.of(a)).toBe(tokens.of(a));
  expect(new Tokens("secret").of(a)).toBe(tokens.of(a));
});

test("of() tells another token for another lease and for another journal", () => {
  const tokens = new Tokens("secret");
  expect(tokens.of(b)).not.toBe(tokens.of(a));
  expect(new Tokens("other").of(a)).not.toBe(tokens.of(a));
});

test("of() tells tokens that fit into a header and hold 256 bits", () => {
  expect(new Tokens("secret").of(a)).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test("of() forgets none when it has told very many", () => {
  const tokens = new Tokens("secret");
  const first = tokens.of(a);
  for (let number = 0; number < 30_000; number++) tokens.of(`r${number}` as RequestId);
  expect(tokens.of(a)).toBe(first);
  expect(tokens.proves(a, first)).toBe(true);
});

test.each([
  ["that of another lease", (tokens: Tokens) => tokens.of(b)],
  ["nothing", () => ""],
  ["one that is cut short", (tokens: Tokens) => tokens.of(a).slice(0, -1)],
  ["one that is too long", (tokens: Tokens) => `${tokens.of(a)}A`],
  ["another case", (tokens: Tokens) => tokens.of(a).toUpperCase()],
  ["letters of several bytes", () => "é".repeat(43)],
  ["that of another journal", () => new Tokens("other").of(a)],
])("proves() does not accept %s", (_, make) => {
  const tokens = new Tokens("secret");
  expect(tokens.proves(a, tokens.of(a))).toBe(true);
  expect(tokens.proves(a, make(tokens))).toBe(false);
});
