/** Loaded before the tests of a file: its properties draw the values of this run. */
import fc from "fast-check";
import { testSeed } from "./test-seed.ts";

fc.configureGlobal({ seed: testSeed() });
