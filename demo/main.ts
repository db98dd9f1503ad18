/** `npm run demo`: a server with the pools of a large CI system, and a day's traffic in minutes. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseDuration } from "../src/core/model/time.ts";
import { DemoClusters } from "./clusters.ts";
import { demandBetween } from "./demand.ts";
import { writePast } from "./past.ts";
import { cannotListen, DemoServer } from "./server.ts";
import { demoPools } from "./shape.ts";
import { Traffic } from "./traffic.ts";

const help = `npm run demo -- [--listen HOST:PORT] [--day 20m] [--past 20m] [--seed N] [--for 1m]

  --listen   address to listen on; default 127.0.0.1:8080
  --day      how long a day takes; the pool file is made for twenty minutes
  --past     length of the history before the start
  --seed     seed of the traffic; another seed is another day
  --for      stop after this time; default: until Ctrl-C`;

const { values } = parseArgs({
  options: {
    listen: { type: "string", default: "127.0.0.1:8080" },
    day: { type: "string", default: "20m" },
    past: { type: "string", default: "20m" },
    seed: { type: "string", default: "1" },
    for: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});

if (values.help) console.log(help);
else {
  await demo();
  process.exit(); // Otherwise jobs would retry their releases after the server has stopped.
}

async function demo(): Promise<void> {
  const taken = await cannotListen(values.listen);
  if (taken !== undefined) {
    console.error(`Cannot listen on ${values.listen}: ${taken}
  Choose another address: npm run demo -- --listen 127.0.0.1:8081`);
    process.exitCode = 69;
    return;
  }
  console.log(`Making a history of ${values.past}; on a busy machine this takes a minute …`);
  const data = mkdtempSync(join(tmpdir(), "berth-demo-"));
  const listed = readFileSync(fileURLToPath(new URL("berth.yaml", import.meta.url)), "utf8");
  const clusters = new DemoClusters(listed, data);
  const config = clusters.write(data);
  const pools = demoPools();
  const options = { dayMs: duration(values.day), grainMs: 200, seed: Number(values.seed) };
  try {
    const now = Math.floor(Date.now() / 1_000) * 1_000;
    const from = now - duration(values.past);
    const demand = demandBetween(pools, from, now, { ...options, grainMs: 500 });
    const past = await writePast(data, listed, demand, { from, to: now });
    const where = ["--config", config, "--data", data, "--listen", values.listen];
    const server = await DemoServer.start(where);
    if (server === undefined) {
      process.exitCode = 69;
      return;
    }
    const traffic = new Traffic(server.url, pools, options);
    traffic.takeOver(past);
    const flowing = Promise.all([traffic.flow(now), traffic.tend()]);
    printGreeting(server, clusters);
    await Promise.race([signalled(), ending(), server.ended]);
    await traffic.stop();
    await flowing;
    await server.stop();
    console.log(`${traffic.asked} requests; ${traffic.failed} could not reach the server`);
  } finally {
    await clusters.destroyAll();
    rmSync(data, { recursive: true, force: true });
  }
}

function printGreeting({ url, greeting }: DemoServer, clusters: DemoClusters): void {
  const server = url === "http://127.0.0.1:8080" ? "" : `BERTH_URL=${url} `;
  console.log(`${greeting}
A day takes ${values.day}. The history has ${values.past}. Try:
  ${server}bin/berth status --watch
  ${server}bin/berth queue -o wide
  ${server}bin/berth stats --window ${values.past} --step 1m
${clusters.hint(server)}
Ctrl-C stops it and deletes all its data.`);
}

function duration(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs >= 1_000) return durationMs;
  console.error(`Cannot use "${text}": it is not a duration of a second or more, such as 10m`);
  process.exit(64);
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}

function ending(): Promise<void> {
  const forMs = values.for === undefined ? undefined : duration(values.for);
  return new Promise((resolve) => {
    if (forMs !== undefined) setTimeout(resolve, forMs);
  });
}
