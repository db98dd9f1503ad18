/**
 * Simulates a busy day for Boskos: 240 types, 9,215 resources, 2,000 clients that poll with a
 * request id, most of them for scarce types. Measures, for each grant, how long the resource was
 * free before it.
 */
import type { PollingJob } from "./polling-clients.ts";
import { runForJson, scratchFolder, startBerth } from "./process.ts";

const types = 240;
const resources = 9_215;
/** The number of scarce types. All clients wait for these. */
const scarce = 40;

export interface PollingRow {
  readonly clients: number;
  readonly callsPerSecond: number;
  readonly grantsPerSecond: number;
  /**
   * The time from when a resource is free and a waiting client has a call open, until the reply.
   */
  readonly openP50Ms: number;
  readonly openP99Ms: number;
  /**
   * The time in which a resource was free although a client waited for it. Includes the client's
   * pause between two calls.
   */
  readonly idleP50Ms: number;
  readonly idleP99Ms: number;
  readonly idleMaxMs: number;
}

export async function benchPolling(clients: number): Promise<PollingRow> {
  const sizes = typeSizes();
  const folder = scratchFolder();
  const pools = Object.entries(sizes).map(([type, count]) => `  ${type}: { count: ${count} }`);
  const berth = await startBerth(folder.path, `pools:\n${pools.join("\n")}\n`);
  try {
    const job: PollingJob = {
      port: berth.port,
      clients,
      types: Object.keys(sizes).slice(0, scarce),
      holdMs: 2_000,
      pollMs: 3_000,
      measureMs: 30_000,
    };
    const measured = await runForJson<PollingRow & { failures: string[] }>(
      "polling-clients.ts",
      job,
    );
    const { failures, ...row } = measured;
    if (failures.length > 0)
      throw new Error(`Cannot measure: ${failures.length} calls failed, first with ${failures[0]}`);
    return { ...row, clients };
  } finally {
    await berth.stop();
    folder.remove();
  }
}

/** Forty types with ten resources each; the other types share the rest. */
function typeSizes(): Record<string, number> {
  const few = 10;
  const rest = resources - scarce * few;
  const sizes: Record<string, number> = {};
  for (let index = 0; index < types; index++) {
    const share = Math.floor(rest / (types - scarce));
    const extra = index - scarce < rest % (types - scarce) ? 1 : 0;
    sizes[`type-${index}`] = index < scarce ? few : share + extra;
  }
  return sizes;
}
