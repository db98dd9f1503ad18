import { expect, test } from "vitest";
import { spark } from "./sparkline.ts";

const cases: Record<string, [samples: number[], top: number, width: number, want: string]> = {
  "nothing yet": [[], 4, 4, "    "],
  "nothing held": [[0, 0], 4, 4, "    "],
  "each sample, the newest last": [[0, 1, 4, 8], 8, 4, " ▁▄█"],
  "fewer samples than columns, right-aligned": [[8, 4], 8, 4, "  █▄"],
  "one of very many": [[1], 10_000, 1, "▁"],
  "a short peak among many": [[0, 0, 8, 0, 0, 0, 0, 0], 8, 4, " █  "],
  "a number of samples that does not divide evenly": [[8, 0, 4, 4, 2], 8, 3, "█▄▄"],
  "more than there is now, after the pool shrank": [[8, 2], 2, 2, "█▂"],
};
test.each(Object.entries(cases))("spark() shows %s", (_, [samples, top, width, want]) => {
  expect(spark(samples, { top, width, unicode: true })).toBe(want);
});

test("spark() uses ASCII on terminals without Unicode", () => {
  expect(spark([1, 2, 3, 4, 5, 6, 7, 8], { top: 8, width: 8, unicode: false })).toBe("_.-:=+*#");
});
