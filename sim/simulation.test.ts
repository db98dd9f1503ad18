/** Half of the seeds; the other half is a file of its own, so that two workers share them. */
import { expect, test } from "vitest";
import { testSeeds } from "./seeds.suite.ts";
import { simulate } from "./simulation.ts";

test("simulate() lives the same history again, when it is given the same seed", async () => {
  for (const seed of [7, 42, 1_234]) expect(await simulate(seed)).toEqual(await simulate(seed));
});

testSeeds(1, 1_000);
