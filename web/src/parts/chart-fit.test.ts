import { expect, test } from "vitest";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { fittingRange } from "./chart-fit.ts";

const nowMs = Date.UTC(2026, 10, 17, 12);
const step = (minutesAgo: number, asked: number, utilisation: number | null) =>
  ({
    ...{ at: new Date(nowMs - minutesAgo * 60_000).toISOString(), asked, ended: 0, utilisation },
  }) as Stats["steps"][number];

test.each([
  ["nothing yet", [step(900, 0, null), step(20, 0, 0)], 60],
  ["a few minutes", [step(900, 0, null), step(8, 1, 0)], 10],
  ["held, but nobody asks", [step(900, 0, 0), step(50, 0, 0.5)], 60],
  ["most of a day", [step(900, 1, 0)], 24 * 60],
])("fittingRange() with %s", (_, steps, minutes) => {
  const { lengthSeconds, stepSeconds, until } = fittingRange({
    steps,
    to: new Date(nowMs).toISOString(),
  });
  expect([lengthSeconds / 60, until]).toEqual([minutes, null]);
  expect(lengthSeconds / stepSeconds).toBeCloseTo(60, 0);
});
