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

  test("P10: is read by the provisioner for its driver; without it nothing is called", async () => {
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
  }, 120_000);
});
