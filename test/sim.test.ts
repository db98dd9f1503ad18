/** `npm run sim` as a process, with the processes that it spreads the seeds over. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Process } from "./cli-processes.ts";

const mainPath = fileURLToPath(new URL("../sim/main.ts", import.meta.url));
const simulate = (...args: string[]) =>
  new Process(process.execPath, [mainPath, ...args], process.env);

test("npm run sim runs the given seeds and prints totals", async () => {
  const run = simulate("--seed", "5", "--seeds", "3", "--workers", "2");
  expect(await run.ended).toBe(0);
  expect(run.stdout).toMatch(
    /^3 of 3 seeds in \d+ s: \d+ grants, \d+ events, .* days\n3 passed, 0 /,
  );
});

test("npm run sim names each failed seed, stops at --failures and exits 1", async () => {
  const planted = ["--bug", "trustAnybody", "--failures", "2", "--workers", "1"];
  const run = simulate(...planted, "--seed", "11", "--seeds", "1000");
  const [, seed] = await run.says(/^seed (\d+): Violation: .* was released by another client\n/);
  expect(await run.ended).toBe(1);
  expect(run.stdout).toMatch(/ of 1000 seeds in /);
  expect(run.stdout).toContain(`  again: npm run sim -- --bug trustAnybody --seed ${seed}\n`);
  expect(run.stdout).toMatch(/ passed, 2 failed\n$/);
});

test("npm run sim stops at Ctrl-C and prints the results so far", async () => {
  const run = simulate("--bug", "trustAnybody", "--seed", "11", "--seeds", "100000");
  await run.says(/seed \d+: Violation/);
  run.signal("SIGINT");
  expect(await run.ended).toBe(1);
  expect(run.stdout).toMatch(
    / of 100000 seeds in .*\n(?: {2}again: .*\n)+\d+ passed, \d+ failed\n$/,
  );
});

test.each([
  ["--seeds", "0"],
  ["--seed", "many"],
  ["--bug", "no-such-bug"],
  ["--no-such-option", "1"],
])("npm run sim rejects %s %s", async (...args) => {
  const run = simulate(...args);
  expect(await run.ended).toBe(64);
  expect(run.stderr).toMatch(/^Cannot /);
});

test("npm run sim -- --help prints the options", async () => {
  const run = simulate("--help");
  expect(await run.ended).toBe(0);
  expect(run.stdout).toMatch(/^Usage: npm run sim/);
  expect(run.stdout).toContain("--bug NAME");
});
