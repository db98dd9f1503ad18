/** Credentials that templates refer to, through a whole server. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Cluster } from "../src/api/cluster-schemas.ts";
import { ScriptedWorld, scriptedProgram } from "../src/drivers/command/scripted-world.suite.ts";
import { TestServer } from "./cli-processes.ts";

const soon = { timeout: 40_000, interval: 100 };

function configOf(world: ScriptedWorld, credentials: object) {
  const env = { WORLD: world.folder };
  const template = { driver: "command", command: [scriptedProgram], env, credentials };
  return { templates: { t: template }, pools: { kube: { template: "t", size: 2 } } };
}

async function clustersOf(server: TestServer): Promise<readonly Cluster[]> {
  return (await server.json("clusters")) as Cluster[];
}

test("P9: another secret behind the same reference replaces the stock, one at a time", async () => {
  await using world = await ScriptedWorld.open();
  const secret = join(world.folder, "cloud.key");
  await writeFile(secret, "first-key-of-the-cloud\n");
  await using server = await TestServer.startWith(configOf(world, { cloud: { file: secret } }));
  const states = async () => (await clustersOf(server)).map(({ state }) => state);
  await expect.poll(states, soon).toEqual(["free", "free"]);
  const before = (await clustersOf(server)).map(({ instance }) => instance);
  const revisions = async () => new Set((await clustersOf(server)).map((one) => one.revision));
  const [old] = await revisions();
  await writeFile(secret, "other-key-of-the-cloud\n");
  const fewest: number[] = [];
  const isReplaced = async () => {
    const clusters = await clustersOf(server);
    fewest.push(clusters.filter(({ state }) => state === "free").length);
    return clusters.every(({ state, revision }) => state === "free" && revision !== old);
  };
  await expect.poll(isReplaced, soon).toBe(true);
  expect(Math.min(...fewest)).toBeGreaterThanOrEqual(1);
  const after = (await clustersOf(server)).map(({ instance }) => instance);
  expect(after.filter((instance) => before.includes(instance))).toEqual([]);
  const plan = await (await fetch(`${server.url}/v1/pools/kube/plan`)).json();
  expect(plan).toMatchObject({ stale: 0 });
});
