/**
 * Where the random values of a test run begin. New values find new bugs, and old values find only old ones; but
 * two runs of one commit must agree, or nobody knows whether a change broke something. So each commit has values
 * of its own. `BERTH_TEST_SEED` sets others, to repeat a run or to search for more.
 */
import { spawnSync } from "node:child_process";

export function testSeed(): number {
  const given = process.env["BERTH_TEST_SEED"];
  if (given === undefined) return seedOfCommit() ?? seedOfToday();
  const value = Number(given);
  if (given !== "" && Number.isSafeInteger(value) && value >= 0 && value <= largest) return value;
  throw new Error(
    `Cannot test: BERTH_TEST_SEED is "${given}", not a whole number up to ${largest}`,
  );
}

const largest = 0x7fff_ffff;

function seedOfCommit(): number | undefined {
  const { status, stdout } = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" });
  return status === 0 ? Number.parseInt(stdout.slice(0, 7), 16) : undefined; // No checkout, or no git.
}

function seedOfToday(): number {
  return Math.floor(Date.now() / 86_400_000);
}
