import { expect, test } from "vitest";
import { type Bugs, plantedBugs, plantedReplicaBugs } from "./bugs.ts";
import { hasReplicas, simulate } from "./simulation.ts";
import { Violation } from "./violation.ts";

/** With seed 5 one of the bugs shows only after twelve virtual hours, which take minutes. */
const firstSeed = 6;
const seedsMax = 500;
/** Few worlds show these, and the search for the first one takes minutes. */
const laterSeeds = new Map([["a snapshot forgets the fences", 300]]);
const title = `simulate() notices within ${seedsMax} seeds that %s`;

/** Those with several servers take longer. */
const hasOneServer = (seed: number) => !hasReplicas(seed);

test.each(Object.entries(plantedBugs))(title, { timeout: 300_000 }, (name, bugs) =>
  notice(bugs, hasOneServer, laterSeeds.get(name)),
);

test.each(Object.entries(plantedReplicaBugs))(title, { timeout: 300_000 }, (_, bugs) =>
  notice(bugs, hasReplicas),
);

async function notice(
  bugs: Bugs,
  isChosen: (seed: number) => boolean,
  from = firstSeed,
): Promise<void> {
  for (let seed = from; seed < from + seedsMax; seed++) {
    if (!isChosen(seed)) continue;
    try {
      await simulate(seed, bugs);
    } catch (cause) {
      expect(cause).toBeInstanceOf(Violation);
      return;
    }
  }
  expect.fail(`nothing was noticed in ${seedsMax} seeds`);
}
