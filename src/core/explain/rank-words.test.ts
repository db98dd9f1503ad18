import { expect, test } from "vitest";
import { rankWords } from "./rank-words.ts";

test.each([
  [
    { priority: 0, aged: true, starved: true, pool: "install" },
    "goes first: its space got nothing of install for its patience",
  ],
  [
    { priority: 0, aged: true, starved: true },
    "goes first: its space got nothing for its patience",
  ],
  [{ priority: 2, aged: true }, "has waited long and gets priority 2"],
  [{ priority: 9, reason: { by: "ops" } }, "is set to priority 9"],
])("rankWords(%j)", (event, words) => {
  expect(rankWords(event)).toBe(words);
});
