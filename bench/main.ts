/**
 * `npm run bench`: all figures of docs/performance.md, in a few minutes. `-- requests` runs one
 * part.
 */
import { availableParallelism, loadavg } from "node:os";
import { benchAuth } from "./auth.ts";
import { benchBoskos } from "./boskos.ts";
import { benchCalls } from "./calls.ts";
import { benchCapacity } from "./capacity.ts";
import { benchClusters } from "./clusters.ts";
import { benchDecisions } from "./decisions.ts";
import { benchGrants } from "./grants.ts";
import { benchHandOff } from "./hand-off.ts";
import { benchHistory } from "./history.ts";
import { benchMemory } from "./memory.ts";
import { benchObserve } from "./observe.ts";
import { benchPolling } from "./polling.ts";
import { benchFailover, benchReplicaRequests } from "./replicas.ts";
import { benchRequests } from "./requests.ts";
import { benchRestart } from "./restart.ts";

const sizes = [
  { resources: 200, waiters: 0 },
  { resources: 100_000, waiters: 0 },
  { resources: 200, waiters: 50_000 },
  { resources: 100_000, waiters: 50_000 },
];

/** The same with one team, and with a thousand that share fairly. */
const teams = [
  { resources: 2_000, waiters: 50_000 },
  { resources: 2_000, waiters: 50_000, spaces: 1 },
  { resources: 2_000, waiters: 50_000, spaces: 1_000 },
];

const parts: Record<string, () => Promise<object[]>> = {
  requests: () => benchRequests([1, 16, 64]),
  auth: () => benchAuth(),
  calls: () => benchCalls(),
  boskos: () => benchBoskos([1, 16, 64]),
  polling: async () => [await benchPolling(2_000)],
  grants: () => benchGrants(sizes),
  decisions: async () => benchDecisions(sizes),
  spaces: async () => benchDecisions(teams),
  clusters: async () => benchClusters(),
  observe: async () => [await benchObserve(1_000)],
  history: () => benchHistory(),
  capacity: async () => benchCapacity(),
  "hand-off": async () => [await benchHandOff()],
  restart: async () => [await benchRestart(1_240_000)],
  replicas: () => benchReplicaRequests(),
  failover: async () => [
    ...(await benchFailover("SIGKILL", 100)),
    ...(await benchFailover("SIGTERM", 20)),
  ],
  memory: () => benchMemory(100_000, 10_000),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`Cannot measure ${unknown.join(", ")}: there are ${Object.keys(parts).join(", ")}`);
  process.exit(64);
}
console.log(
  `Node ${process.version}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(2)}`,
);
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n${name}`);
  console.table(await run());
}
