import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { BucketHistogram } from "./bucket-histogram.ts";

const settings = {
  name: "waits",
  help: "How long",
  labelNames: ["pool", "state"],
  buckets: [1, 5],
};

test("BucketHistogram writes what prom-client's own writes", async () => {
  const observation = fc.record({
    labels: fc.record({ pool: fc.constantFrom("a", 'b"\n'), state: fc.constantFrom("x", "y") }),
    value: fc.oneof(fc.constantFrom(0, 1, 5), fc.double({ min: 0, max: 10, noNaN: true })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(observation), async (observations) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const counted = new BucketHistogram({ ...settings, registers: [ours] });
      const reference = new Histogram({ ...settings, registers: [theirs] });
      const series = new Map<string, ReturnType<typeof counted.series>>();
      for (const { labels, value } of observations) {
        const key = JSON.stringify(labels);
        const one = series.get(key) ?? counted.series(labels);
        series.set(key, one);
        one.observe(value);
        reference.observe(labels, value);
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
  );
});

test("BucketHistogram without labels is shown from the beginning", async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const { labelNames: _, ...unlabelled } = settings;
  new BucketHistogram({ ...unlabelled, registers: [ours] }).series();
  new Histogram({ ...unlabelled, registers: [theirs] });
  expect(await ours.metrics()).toBe(await theirs.metrics());
});
