import { expect, test } from "vitest";
import { at, left } from "./journal.suite.ts";
import { JournalUnusable, recordedAfter, storedCommit } from "./journal.ts";

test("recordedAfter() tells what comes after an event, also from the middle of a commit", () => {
  const commit = storedCommit(4, at(1), [left(5), left(6), left(7)]);
  expect(recordedAfter(3, commit)).toEqual({ seq: 5, at: 1, events: [left(5), left(6), left(7)] });
  expect(recordedAfter(4, commit)).toMatchObject({ seq: 5 });
  expect(recordedAfter(6, commit)).toEqual({ seq: 7, at: 1, events: [left(7)] });
});

test.each([
  ["fewer events than it counts", "[]"],
  ["no list", "{}"],
  ["no JSON", "[{"],
])("recordedAfter() refuses a commit with %s", (_, events) => {
  const commit = { ...storedCommit(0, at(1), [left(1)]), events };
  expect(() => recordedAfter(0, commit)).toThrow(JournalUnusable);
});
