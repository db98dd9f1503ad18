import { expect, test } from "vitest";
import { notYetWords, possibleWords } from "./week-words.ts";

test("notYetWords() says since when there is data, and when weeks can be compared", () => {
  const since = new Date(2026, 10, 17, 22, 53).getTime() / 1_000;
  const now = new Date(2026, 10, 18, 22, 53).getTime();
  expect(notYetWords(since, now)).toBe(
    "There is data since Tue 17 Nov 22:53. The comparison needs more than 7 days: it appears here in 6d, on Tue 24 Nov.",
  );
  expect(possibleWords(since, now)).toBe(
    "Compare this week with the week before: possible in 6d, on Tue 24 Nov",
  );
  // The beginning is known as exactly as steps of some hours, so it may be a week ago already.
  expect(notYetWords(since, now + 6 * 24 * 3_600_000)).toBe(
    "There is data since Tue 17 Nov 22:53. The comparison needs more than 7 days: it appears here within a few hours.",
  );
});
