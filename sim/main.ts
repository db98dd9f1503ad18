/**
 * `npm run sim -- --seed 7` replays one history. `--seeds 100000` runs that many seeds, starting at
 * `--seed`, on all processors.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { plantedBugs, plantedReplicaBugs } from "./bugs.ts";
import { SeedPool } from "./seed-pool.ts";
import { Tally } from "./tally.ts";

/** A log file gets fewer progress lines than a terminal. */
const progressEveryMs = process.stderr.isTTY ? 500 : 10_000;
const usage = "Usage: npm run sim -- [options]";
const help = `${usage}

Simulates histories of the broker and checks every step.

Options:
  --seed N      the first seed; default 1
  --seeds N     how many seeds to run; default 1
  --workers N   how many threads; default: one for each processor
  --failures N  stop after this many failures; default 20
  --bug NAME    plant a bug, such as loseTail, to see that the simulator finds it
  -h, --help    print this help

Exits 1 if a seed failed. Ctrl-C stops the run and prints the results so far.`;

const values = readFlags();
if (values.help) {
  console.log(help);
  process.exit(0);
}
const [first, count, workers, failuresMax] = [
  numberOf("seed", 0),
  numberOf("seeds", 1),
  numberOf("workers", 1),
  numberOf("failures", 1),
];
const bugs = values.bug === undefined ? {} : { [bugOf(values.bug)]: true };
const again = `npm run sim --${values.bug === undefined ? "" : ` --bug ${values.bug}`} --seed`;

const startedAt = performance.now();
const elapsedMs = (): number => performance.now() - startedAt;
const tally = new Tally(count, again);
let interrupted = false;

const pool = new SeedPool({
  ...{ first, count, workers, bugs },
  ended(report) {
    tally.add(report);
    if (!report.ok) {
      clearLine();
      console.error(`seed ${report.seed}: ${report.why}`);
    }
    return tally.failures < failuresMax;
  },
});
process.on("SIGINT", () => {
  interrupted = true;
  pool.stop();
});
const progress = setInterval(() => {
  clearLine();
  process.stderr.write(tally.progress(elapsedMs()) + (process.stderr.isTTY ? "" : "\n"));
}, progressEveryMs);
await pool.run();
clearInterval(progress);
clearLine();
console.log(tally.summary(elapsedMs()));
if (tally.failures > 0) process.exitCode = 1;
else if (interrupted) process.exitCode = 130;

function readFlags() {
  try {
    return parseArgs({
      options: {
        seed: { type: "string", default: "1" },
        seeds: { type: "string", default: "1" },
        workers: { type: "string", default: String(availableParallelism()) },
        failures: { type: "string", default: "20" },
        bug: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    console.error(`Cannot simulate: ${error instanceof Error ? error.message : error}\n${usage}`);
    process.exit(64);
  }
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
}

function numberOf(name: "seed" | "seeds" | "workers" | "failures", min: number): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= min) return value;
  console.error(`Cannot simulate: --${name} must be a whole number, at least ${min}\n${usage}`);
  process.exit(64);
}

function bugOf(name: string): string {
  const all = { ...plantedBugs, ...plantedReplicaBugs };
  const known = Object.values(all).flatMap((bugs) => Object.keys(bugs));
  if (known.includes(name)) return name;
  console.error(`Cannot plant the bug "${name}": use one of ${known.join(", ")}`);
  process.exit(64);
}
