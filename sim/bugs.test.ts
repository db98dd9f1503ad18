import { expect, test } from "vitest";
import { plantedBugs } from "./bugs.ts";
import { simulate } from "./simulation.ts";
import { Violation } from "./violation.ts";

const seedsMax = 200;

test.each(Object.entries(plantedBugs))(
  `simulate() notices within ${seedsMax} seeds that %s`,
  { timeout: 300_000 },
  async (_, bugs) => {
    for (let seed = 1; seed <= seedsMax; seed++) {
      try {
        await simulate(seed, bugs);
      } catch (cause) {
        expect(cause).toBeInstanceOf(Violation);
        return;
      }
    }
    expect.fail(`nothing was noticed in ${seedsMax} seeds`);
  },
);
