import { testSeeds } from "./seeds.suite.ts";

testSeeds(1_001, 2_000);
