import { expect, test } from "vitest";
import { simulate } from "./simulation.ts";

/** So many seeds per test: the last line that was printed says how far it came. */
const seedsPerTest = 100;

/** Histories from one seed up to another; a failure names its seed, which replays it. */
export function testSeeds(first: number, last: number): void {
  for (let from = first; from <= last; from += seedsPerTest) {
    const to = Math.min(last, from + seedsPerTest - 1);
    test(`simulate() finds no violation in seeds ${from} to ${to}`, {
      timeout: 300_000,
    }, async () => {
      let grants = 0;
      for (let seed = from; seed <= to; seed++) {
        try {
          grants += (await simulate(seed)).grants;
        } catch (cause) {
          throw new Error(`seed ${seed}: ${cause}\n  again: npm run sim -- --seed ${seed}`, {
            cause,
          });
        }
      }
      // A simulator in which nothing happens finds nothing.
      expect(grants).toBeGreaterThan(5 * (to - from));
    });
  }
}
