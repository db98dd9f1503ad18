/** `npm run sim -- --seed 7` replays one history; `--seeds 2000` runs that many from there on. */
import { parseArgs } from "node:util";
import { simulate } from "./simulation.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, seeds: { type: "string", default: "1" } },
});
const first = Number(values.seed);
const count = Number(values.seeds);
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1) {
  console.error("Cannot simulate: --seed and --seeds take whole numbers");
  process.exit(64);
}

let [failed, grants, events, virtualMs] = [0, 0, 0, 0];
const startedAt = performance.now();
for (let seed = first; seed < first + count; seed++) {
  try {
    const result = await simulate(seed);
    grants += result.grants;
    events += result.events;
    virtualMs += result.virtualMs;
  } catch (error) {
    failed += 1;
    console.error(
      `seed ${seed}: ${error instanceof Error ? (error.cause instanceof Error ? error.cause.stack : error.message) : error}`,
    );
    console.error(`  again: npm run sim -- --seed ${seed}`);
  }
  if (process.stderr.isTTY)
    process.stderr.write(`\r${seed - first + 1}/${count} seeds, ${failed} failed`);
}
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
const days = (virtualMs / 86_400_000).toFixed(1);
console.log(
  `\n${count} seeds from ${first}: ${grants} grants, ${events} events, ${days} days in ${seconds} s`,
);
console.log(`${count - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
