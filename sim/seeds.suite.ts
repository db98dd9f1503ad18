import { expect, test } from "vitest";
import { simulate } from "./simulation.ts";

/** So many seeds per test: the last line that was printed says how far it came. */
const seedsPerTest = 50;
/** Every day has as many seeds of its own, so that no two days simulate the same. */
const seedsPerDay = 1_000;
const dayMs = 86_400_000;

/**
 * Where today's seeds begin, which nobody has simulated yet: fixed seeds alone find what they found the
 * first time. `BERTH_SIM_SEED` begins elsewhere, to repeat a run of another day.
 */
export function seedOfTheDay(): number {
  return setting("BERTH_SIM_SEED") ?? Math.floor(Date.now() / dayMs) * seedsPerDay;
}

/** How many of them are simulated; `BERTH_SIM_SEEDS` says otherwise. */
export function seedsToday(): number {
  return setting("BERTH_SIM_SEEDS") ?? 200;
}

function setting(name: string): number | undefined {
  const given = process.env[name];
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given !== "" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`Cannot simulate: ${name} is "${given}", not a whole number`);
}

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
