import { expect, test } from "vitest";
import { notYetWords } from "./week-words.ts";

test("notYetWords() says since when there is data, and when weeks can be compared", () => {
  const since = new Date(2026, 10, 17, 22, 53).getTime() / 1_000;
  expect(notYetWords(since)).toBe(
    "There is data since Tue 17 Nov 22:53. From Tue 24 Nov on, the last 7 days are compared here with the 7 days before.",
  );
  expect(notYetWords(undefined)).toContain("no data of the week before yet");
});
