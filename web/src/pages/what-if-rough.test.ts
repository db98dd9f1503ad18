import { expect, test } from "vitest";
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import { roughConclusion } from "./what-if-rough.ts";

/** Of 257 claims. */
const part = (started: number, p90: number | null) =>
  ({
    starts: { claims: 257, started, withinSeconds: { p50: 1, p90, p99: null } },
  }) as unknown as ReplayedPart;
const row = (label: string, started: number, p90: number | null, isToday = false) => ({
  ...{ label, part: part(started, p90), isToday },
});

test.each([
  [
    "9 in 10 start even with its error",
    part(230, null),
    [row("4", 208, null, true), row("5", 250, 94), row("6", 257, 18)],
    "Only roughly: 6 is clearly better (2 more than today): 9 in 10 start within 18s, recorded: 89 % started.",
  ],
  [
    "it is shorter by more than the two differ",
    part(257, 146),
    [row("4", 257, 265, true), row("5", 257, 94), row("6", 257, 18)],
    "Only roughly: 6 is clearly better (2 more than today): 9 in 10 start within 18s, recorded: within 2m26s.",
  ],
  [
    "the nearest of them",
    part(230, null),
    [row("2", 250, 5), row("4", 208, null, true), row("5", 257, 90), row("6", 257, 18)],
    "Only roughly: 5 is clearly better (1 more than today): 9 in 10 start within 1m30s, recorded: 89 % started.",
  ],
  [
    "none",
    part(257, 146),
    [row("4", 257, 265, true), row("5", 257, 94), row("6", 240, null)],
    "No answer: this replay does not match the record.",
  ],
  [
    "nothing to compare with",
    part(257, 146),
    [row("5", 257, 0), row("6", 257, 0)],
    "No answer: this replay does not match the record.",
  ],
  [
    "one that waits only in the replay",
    part(257, 0),
    [row("4", 257, 60, true), row("5", 257, 0)],
    "No answer: this replay does not match the record.",
  ],
])("roughConclusion() names a value if %s", (_, recorded, rows, want) => {
  expect(roughConclusion(rows, recorded).lead).toBe(want);
});
