import { expect, test } from "vitest";
import { testSeed } from "../test/test-seed.ts";
import { simulate } from "./simulation.ts";

/** The number of seeds per test. The last printed line shows the progress. */
const seedsPerTest = 50;
/** The number of seeds reserved for each commit, so that two of them seldom simulate the same ones. */
const seedsPerCommit = 1_000;
const commits = 1_000_000;

/**
 * The first of the seeds of this run. New seeds find new bugs; fixed seeds find only old ones.
 * `BERTH_SIM_SEED` sets another first seed, to repeat the run of another commit.
 */
export function firstSeedOfRun(): number {
  return setting("BERTH_SIM_SEED") ?? (testSeed() % commits) * seedsPerCommit;
}

/** The number of seeds to simulate in this run; `BERTH_SIM_SEEDS` overrides it. */
export function seedsInRun(): number {
  return setting("BERTH_SIM_SEEDS") ?? 200;
}

function setting(name: string): number | undefined {
  const given = process.env[name];
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given !== "" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`Cannot simulate: ${name} is "${given}", not a whole number`);
}

/** Simulates a range of seeds. A failure names its seed, which replays it. */
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
      // Without enough grants the simulation would prove nothing.
      expect(grants).toBeGreaterThan(5 * (to - from));
    });
  }
}
