import { expect, test } from "vitest";
import { Tally } from "./tally.ts";

const lived = { ok: true, grants: 10, events: 50, virtualMs: 43_200_000 } as const;

test("Tally shows progress, speed, remaining time and failed seeds", () => {
  const tally = new Tally(1_000, "again");
  expect(tally.progress(0)).toBe("0/1000 seeds, 0.0/s, ? left, none failed");
  tally.add({ seed: 1, ...lived });
  tally.add({ seed: 2, ...lived });
  expect(tally.progress(1_000)).toBe("2/1000 seeds, 2.0/s, 9 min left, none failed");
  tally.add({ seed: 3, ok: false, why: "a violation" });
  tally.add({ seed: 4, ok: false, why: "a violation" });
  expect(tally.progress(100_000)).toBe("4/1000 seeds, 0.0/s, 6 h 55 min left, failed: 3 4");
});

test("Tally ends with totals and the commands that repeat the failed seeds", () => {
  const tally = new Tally(3, "npm run sim -- --seed");
  tally.add({ seed: 1, ...lived });
  tally.add({ seed: 2, ok: false, why: "a violation" });
  expect(tally.summary(1_500)).toBe(
    [
      "2 of 3 seeds in 2 s: 10 grants, 50 events, 0.5 days",
      "  again: npm run sim -- --seed 2",
      "1 passed, 1 failed",
    ].join("\n"),
  );
});
