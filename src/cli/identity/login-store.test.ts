import { expect, test } from "vitest";
import { isAbandoned } from "./login-store.ts";

test.each([
  ["of a command that runs now", 2_000, 2_000, false],
  ["of a command that was killed", 31_000, 0, true],
  ["from before the clock was set back by a day, seen for a second", -86_400_000, 1_000, false],
  ["from before the clock was set back by a day, seen for long", -86_400_000, 31_000, true],
])("a lock %s", (_, ageMs, seenForMs, abandoned) => {
  expect(isAbandoned(ageMs, seenForMs)).toBe(abandoned);
});
