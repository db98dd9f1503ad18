/**
 * Seeds that are the same every time; those of the commit are a file of their own, for another worker.
 */
import { expect, test } from "vitest";
import { testSeeds } from "./seeds.suite.ts";
import { simulate } from "./simulation.ts";

test("simulate() makes the same history for the same seed", async () => {
  for (const seed of [7, 42, 1_234]) expect(await simulate(seed)).toEqual(await simulate(seed));
});

testSeeds(1, 300);
