import { expect, test } from "vitest";
import { spacesAheadWords } from "./spaces-ahead.ts";

test.each([
  [0, 0, "No waiting space goes first."],
  [1, undefined, "1 waiting space goes first: 1 with a lower share than web."],
  [1, 1, "1 waiting space goes first: 1 that got nothing of a pool for too long."],
  [
    3,
    1,
    "3 waiting spaces go first: 2 with a lower share than web, 1 that got nothing of a pool for too long.",
  ],
])("%j spaces ahead, %j of them starved: %s", (spacesAhead, starvedAhead, words) => {
  const starved = starvedAhead === undefined ? undefined : { starvedAhead };
  expect(spacesAheadWords({ name: "web", spacesAhead, ...starved })).toBe(words);
});
