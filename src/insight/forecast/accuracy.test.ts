import { expect, test } from "vitest";
import { AccuracyBook, latestMax } from "./accuracy.ts";

const promised = { p50At: 10, p90At: 20, pools: ["aws"] };
/** By the P50, by the P90, later. */
const [soon, later, late] = [10, 20, 40];

test("AccuracyBook counts all, and the mean error of their P50", () => {
  const book = new AccuracyBook();
  for (const grantedAt of [soon, later, late]) book.compare(promised, grantedAt);
  const all = { compared: 3, withinP50: 1, withinP90: 2, meanErrorMs: 40 / 3 };
  expect(book.total).toEqual({ ...all, latest: all });
  expect([...book.pools()]).toEqual([["aws", { ...all, latest: all }]]);
});

test("AccuracyBook forgets what is long ago in the latest ones, and not in the others", () => {
  const book = new AccuracyBook();
  for (let count = 0; count < 1_000; count++) book.compare(promised, late);
  for (let count = 0; count < latestMax; count++) book.compare(promised, soon);
  const [[, aws] = []] = [...book.pools()];
  expect(aws).toMatchObject({ compared: 1_000 + latestMax, withinP90: latestMax });
  expect(aws?.latest).toMatchObject({ compared: latestMax, withinP90: latestMax, meanErrorMs: 0 });
  for (let count = 0; count < latestMax / 2 + 1; count++) book.compare(promised, late);
  const [[, then] = []] = [...book.pools()];
  expect(then?.latest).toMatchObject({ compared: latestMax / 2 + 1, withinP90: 0 });
});
