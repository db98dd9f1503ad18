/** `npm run demo`: a server with the pools of a large CI system, and a day's traffic in minutes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { parseArgs } from "node:util";
import { parseDuration } from "../src/core/model/time.ts";
import type { DemoClusters } from "./clusters.ts";
import { JobLedger } from "./job-ledger.ts";
import { writePast } from "./past.ts";
import { ReplicaSite } from "./replica-site.ts";
import { cannotListen, DemoServer } from "./server.ts";
import { stopAsked } from "./stop-asked.ts";
import { Traffic } from "./traffic.ts";
import { DemoWorld } from "./world.ts";

const help = `npm run demo -- [--listen HOST:PORT] [--day 20m] [--past 10m] [--seed N] [--for 1m] [--pools 60]

  --listen   address to listen on; default 127.0.0.1:8080
  --day      how long a day takes; the pool file is made for twenty minutes
  --past     length of the history before the start
  --seed     seed of the traffic; another seed is another day
  --for      stop after this time; default: until Ctrl-C
  --pools    jobs use only so many of the 240 plain pools: less work for a machine that is busy
  --replicas run so many servers on PostgreSQL behind the address, and check at the end that nothing
             was lost or lent twice; needs Debian's postgresql
  --kill-every  with --replicas: kill the leader this often`;

const poolsMax = 240;
const outageMs = 15_000;
/** A leader that was killed starts again after this time. */
const killedMs = 3_000;
/** Coarse, so that the past has few commits: each is a write to the disk. */
const pastGrainMs = 2_000;

const { values } = parsed();

if (values.help) console.log(help);
else {
  await demo(stopAsked());
  process.exit(); // Otherwise jobs would retry their releases after the server has stopped.
}

async function demo(stop: AbortSignal): Promise<void> {
  const taken = await cannotListen(values.listen);
  if (taken !== undefined) {
    console.error(`Cannot listen on ${values.listen}: ${taken}
  Choose another address: npm run demo -- --listen 127.0.0.1:8081`);
    process.exitCode = 69;
    return;
  }
  console.log(`Making a history of ${values.past}; on a busy machine this takes a minute …`);
  const data = mkdtempSync(join(tmpdir(), "berth-demo-"));
  const world = await DemoWorld.make(data, number(values.pools, poolsMax));
  const options = { dayMs: duration(values.day), grainMs: 200, seed: Number(values.seed) };
  try {
    const now = Math.floor(Date.now() / 1_000) * 1_000;
    const from = now - duration(values.past);
    const past = await writePast(
      data,
      world.pastConfig,
      world.demand(from, now, { ...options, grainMs: pastGrainMs }),
      { from, to: now },
    );
    for (const _ of [1, 2]) await setImmediate(); // A signal that came meanwhile is noticed.
    if (stop.aborted) return;
    const server = await startServers(world.configFile, data, stop);
    if (server === undefined) {
      process.exitCode = stop.aborted ? 0 : 69;
      return;
    }
    const demand = (start: number, end: number) => world.demand(start, end, options);
    const { tokens, pools } = world;
    const ledger = new JobLedger();
    const { seed } = options;
    const { dayMs } = options;
    const traffic = new Traffic(server.url, { tokens, pools, seed, demand, ledger, dayMs });
    traffic.takeOver(past);
    const flowing = Promise.all([traffic.flow(now), traffic.tend(), traffic.watch(console.log)]);
    printGreeting(server, world.clusters);
    if (server instanceof DemoServer) outageOnEnter(server);
    else killOften(server);
    await Promise.race([once(stop), ending(), server.ended]);
    await traffic.stop();
    await flowing;
    if (server instanceof ReplicaSite) await checkEnd(server, traffic, ledger);
    await server.stop();
    console.log(`${traffic.asked} requests; ${traffic.failed} could not reach the server`);
  } finally {
    await world[Symbol.asyncDispose]();
    rmSync(data, { recursive: true, force: true });
  }
}

async function startServers(
  configFile: string,
  folder: string,
  stop: AbortSignal,
): Promise<DemoServer | ReplicaSite | undefined> {
  const { listen, replicas } = values;
  if (replicas === undefined) {
    return DemoServer.start(["--config", configFile, "--data", folder, "--listen", listen]);
  }
  return ReplicaSite.start({ folder, configFile, listen, servers: number(replicas, 9), stop });
}

function killOften(site: ReplicaSite): void {
  const every = values["kill-every"];
  if (every === undefined) return;
  site.killOften(duration(every), killedMs, () => {
    console.log(`Leaders killed so far: ${site.kills}`);
  });
}

/** Jobs have stopped, and what they hold is still held. */
async function checkEnd(site: ReplicaSite, traffic: Traffic, ledger: JobLedger): Promise<void> {
  await site.stopKilling();
  const problems = [
    ...ledger.problems(await traffic.knownLeases()),
    ...(await site.journalProblems()),
  ];
  if (ledger.leases === 0) problems.push("nothing was lent, so nothing was checked");
  for (const problem of problems.slice(0, 20)) console.log(`WRONG: ${problem}`);
  const found = problems.length === 0 ? "nothing lost, nothing lent twice" : "see above";
  console.log(`The leader was killed ${site.kills} times; ${ledger.leases} leases: ${found}.
${site.estimates.text}`);
  if (problems.length > 0 || !site.estimates.isInBand) process.exitCode = 1;
}

function printGreeting(
  { url, greeting }: Pick<DemoServer, "url" | "greeting">,
  clusters: DemoClusters,
): void {
  const server = url === "http://127.0.0.1:8080" ? "" : `BERTH_URL=${url} `;
  console.log(`${greeting}
A day takes ${values.day}. The history has ${values.past}. Six teams share 240 plain pools, and a few more that show a
capacity, a pace, an adaptive rate, a limit, admission, a janitor, quotas, clusters and hubs: look at
  ${url}/?q=lab   ${url}/pools/install-adaptive   ${url}/pools/cloud-api   ${url}/clusters   ${url}/hubs
Try:
  ${server}bin/berth status --watch
  ${server}bin/berth queue -o wide
  ${server}bin/berth hubs
  ${server}bin/berth stats --window ${values.past} --step 1m
${clusters.hint(server)}
${process.stdin.isTTY ? "Enter kills the server for 15 seconds, to show an outage.\n" : ""}Ctrl-C stops it and deletes all its data.`);
}

function outageOnEnter(server: DemoServer): void {
  if (!process.stdin.isTTY) return;
  process.stdin.on("data", () => {
    console.log("The server is away for 15 seconds; jobs and pages wait for it.");
    void server.outage(outageMs);
  });
}

function duration(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs >= 1_000) return durationMs;
  console.error(`Cannot use "${text}": it is not a duration of a second or more, such as 10m`);
  process.exit(64);
}

function number(text: string, max: number): number {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= max) return Number(text);
  console.error(`Cannot use "${text}": it is not a number from 1 to ${max}`);
  process.exit(64);
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}

function ending(): Promise<void> {
  const forMs = values.for === undefined ? undefined : duration(values.for);
  return new Promise((resolve) => {
    if (forMs !== undefined) setTimeout(resolve, forMs);
  });
}

function parsed() {
  try {
    return parseArgs({
      options: {
        listen: { type: "string", default: "127.0.0.1:8080" },
        day: { type: "string", default: "20m" },
        past: { type: "string", default: "10m" },
        seed: { type: "string", default: "1" },
        for: { type: "string" },
        pools: { type: "string", default: String(poolsMax) },
        replicas: { type: "string" },
        "kill-every": { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    // A wrong option. Only the first sentence of Node's message is about it.
    const [why = ""] = error instanceof Error ? error.message.split(". ") : [];
    console.error(`Cannot start the demo: ${why}\n\n${help}`);
    process.exit(64);
  }
}
