import { seedOfTheDay, seedsToday, testSeeds } from "./seeds.suite.ts";

const first = seedOfTheDay();
const last = first + seedsToday() - 1;
console.log(`Simulating seeds ${first} to ${last}; again: BERTH_SIM_SEED=${first} npm test -- sim`);
testSeeds(first, last);
