/** A credential of a template that is in a Secret of Kubernetes. */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Cluster } from "../src/api/cluster-schemas.ts";
import { ScriptedWorld, scriptedProgram } from "../src/drivers/command/scripted-world.suite.ts";
import { TestServer } from "./cli-processes.ts";
import { noKube } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";

const soon = { timeout: 60_000, interval: 100 };

function configOf(world: ScriptedWorld, credentials: object) {
  const env = { WORLD: world.folder };
  const template = { driver: "command", command: [scriptedProgram], env, credentials };
  return { templates: { t: template }, pools: { kube: { template: "t", size: 2 } } };
}

async function clustersOf(server: TestServer): Promise<readonly Cluster[]> {
  return (await server.json("clusters")) as Cluster[];
}

describe.skipIf(noKube)("a credential in a Secret of Kubernetes", () => {
  const kubectl = (...args: readonly string[]) =>
    execFileSync(join(sharedCluster().binaries, "kubectl"), args, {
      encoding: "utf8",
      env: { ...process.env, KUBECONFIG: sharedCluster().adminConfig },
      stdio: ["ignore", "pipe", "pipe"],
    });

  test("P9, P10: is read for the driver, nothing is called without it, and another one replaces the stock", async () => {
    await using world = await ScriptedWorld.open();
    await world.before("create", 'cp "$BERTH_CREDENTIALS" "$WORLD/used"');
    kubectl("create", "namespace", "cloud-keys");
    const kubeconfig = sharedCluster().adminConfig;
    const cloud = { secret: "cloud-keys/aws", key: "access", kubeconfig };
    await using server = await TestServer.startWith(configOf(world, { cloud }));
    const messages = async () => (await clustersOf(server)).map(({ message }) => message);
    const missing = "the credential cloud is missing";
    await expect.poll(async () => (await messages())[0], soon).toContain(missing);
    expect(await world.calls()).toEqual([]);
    const value = "key-in-a-secret-of-kubernetes";
    const from = `--from-literal=access=${value}`;
    kubectl("-n", "cloud-keys", "create", "secret", "generic", "aws", from);
    const states = async () => (await clustersOf(server)).map(({ state }) => state);
    await expect.poll(states, soon).toEqual(["free", "free"]);
    const used = JSON.parse(await readFile(join(world.folder, "used"), "utf8"));
    expect(used).toEqual({ cloud: value });
    const before = (await clustersOf(server)).map(({ instance }) => instance);
    const [revision] = (await clustersOf(server)).map((one) => one.revision);
    // Not the first sight of the Secret: only a change of it replaces clusters.
    expect(new Set((await clustersOf(server)).map((one) => one.revision)).size).toBe(1);
    const data = { access: Buffer.from("another-key-in-a-secret").toString("base64") };
    kubectl("-n", "cloud-keys", "patch", "secret", "aws", "-p", JSON.stringify({ data }));
    const isReplaced = async () =>
      (await clustersOf(server)).every((one) => one.state === "free" && one.revision !== revision);
    await expect.poll(isReplaced, soon).toBe(true);
    const after = (await clustersOf(server)).map(({ instance }) => instance);
    expect(after.filter((instance) => before.includes(instance))).toEqual([]);
    const [again] = (await clustersOf(server)).map((one) => one.revision);
    await server.stop();
    await server.start();
    await expect.poll(states, soon).toEqual(["free", "free"]);
    const kept = (await clustersOf(server)).map((one) => [one.instance, one.revision]);
    expect(kept, "after a restart").toEqual(after.map((instance) => [instance, again]));
  }, 240_000);
});
