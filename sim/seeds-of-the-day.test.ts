import { seedOfTheDay, testSeeds } from "./seeds.suite.ts";

const first = seedOfTheDay();
const last = first + 199;
console.log(`Simulating seeds ${first} to ${last}; again: BERTH_SIM_SEED=${first} npm test -- sim`);
testSeeds(first, last);
