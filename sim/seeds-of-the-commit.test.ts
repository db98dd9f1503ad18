import { firstSeedOfRun, seedsInRun, testSeeds } from "./seeds.suite.ts";

const first = firstSeedOfRun();
const last = first + seedsInRun() - 1;
console.log(`Simulating seeds ${first} to ${last}; again: BERTH_SIM_SEED=${first} npm test -- sim`);
testSeeds(first, last);
