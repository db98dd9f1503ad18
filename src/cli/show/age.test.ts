import { expect, test } from "vitest";
import { momentAhead } from "./age.ts";

/** In the zone of the machine, as the text is. */
const noon = new Date(2026, 10, 17, 12, 0).getTime();

test.each([
  [new Date(2026, 10, 17, 14, 4), "in 2h4m (14:04)"],
  [new Date(2026, 10, 18, 9, 5), "in 21h5m (2026-11-18 09:05)"],
  [new Date(2026, 10, 17, 11, 58), "2m ago (11:58)"],
])("momentAhead(%s) is %s", (at, text) => {
  expect(momentAhead(at.toISOString(), noon)).toBe(text);
});
