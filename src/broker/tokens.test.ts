import { expect, test } from "vitest";
import type { RequestId } from "../core/model/ids.ts";
import { Tokens } from "./lease-identity.ts";

const a = "a" as RequestId;
const b = "b" as RequestId;

test("of() returns the same token for the same lease, also after a restart", () => {
  const tokens = new Tokens("secret");
  expect(tokens.of(a)).toBe(tokens.of(a));
  expect(new Tokens("secret").of(a)).toBe(tokens.of(a));
});

test("of() returns another token for another lease and for another journal", () => {
  const tokens = new Tokens("secret");
  expect(tokens.of(b)).not.toBe(tokens.of(a));
  expect(new Tokens("other").of(a)).not.toBe(tokens.of(a));
});

test("of() returns tokens with 256 bits that are valid in a header", () => {
  expect(new Tokens("secret").of(a)).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test("of() returns the same token after 30,000 others", () => {
  const tokens = new Tokens("secret");
  const first = tokens.of(a);
  for (let number = 0; number < 30_000; number++) tokens.of(`r${number}` as RequestId);
  expect(tokens.of(a)).toBe(first);
  expect(tokens.proves(a, first)).toBe(true);
});

test.each([
  ["the token of another lease", (tokens: Tokens) => tokens.of(b)],
  ["an empty string", () => ""],
  ["a token without its last character", (tokens: Tokens) => tokens.of(a).slice(0, -1)],
  ["a token with one more character", (tokens: Tokens) => `${tokens.of(a)}A`],
  ["another case", (tokens: Tokens) => tokens.of(a).toUpperCase()],
  ["characters of several bytes", () => "é".repeat(43)],
  ["the token of another journal", () => new Tokens("other").of(a)],
])("proves() does not accept %s", (_, make) => {
  const tokens = new Tokens("secret");
  expect(tokens.proves(a, tokens.of(a))).toBe(true);
  expect(tokens.proves(a, make(tokens))).toBe(false);
});

test("proves() looks at every character", () => {
  const tokens = new Tokens("secret");
  const token = tokens.of(a);
  for (let place = 0; place < token.length; place++) {
    const other = token[place] === "A" ? "B" : "A";
    const wrong = token.slice(0, place) + other + token.slice(place + 1);
    expect(tokens.proves(a, wrong), `character ${place}`).toBe(false);
  }
});
