/** Access that expires: every client for other languages replaces its file while the command runs. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";
import { ClusterClients, clusterClients, missing } from "./cluster-clients.ts";

const driver = fileURLToPath(new URL("./fixtures/drivers/scripted.sh", import.meta.url));
let world = "";
let server: TestServer;
const clients = new ClusterClients();

beforeAll(async () => {
  world = await mkdtemp(join(tmpdir(), "berth-cluster-clients-"));
  await mkdir(join(world, "do"));
  // What is made lasts for 8 seconds, and the provisioner looks once a minute.
  const fresh = `mine || exit 30
    end=$(date -u -d '+8 seconds' +%Y-%m-%dT%H:%M:%SZ)
    printf '{"kubeconfig":"token-%s\\\\n","expiresAt":"%s"}\\n' "$(date +%s%N)" "$end"; exit 0`;
  await writeFile(join(world, "do", "credentials"), fresh);
  const env = { WORLD: world, PATH: process.env["PATH"] ?? "" };
  const templates = { small: { driver: "command", command: [driver], env } };
  server = await TestServer.startWith({
    templates,
    pools: { ocp: { template: "small", ttl: "6s" } },
  });
});
afterAll(async () => {
  clients[Symbol.dispose]();
  await server?.[Symbol.asyncDispose]();
  await rm(world, { recursive: true, force: true });
});

/** Ends when the file has another content, and then shows both and the mode of the file. */
const untilRenewed = `first=$(cat "$KUBECONFIG"); stat -c %a "$KUBECONFIG"
  while now=$(cat "$KUBECONFIG") && [ "$now" = "$first" ]; do sleep 0.2; done; echo "$first"; echo "$now"`;

/** Stores new access for every cluster, as a provisioner does. */
async function renewAll(): Promise<void> {
  const listed = await fetch(`${server.url}/v1/clusters`);
  const { items } = (await listed.json()) as { items: { name: string; instance: string }[] };
  for (const { name, instance } of items) {
    const found = await fetch(`${server.url}/v1/resources/${name}`);
    const { lease } = (await found.json()) as { lease: { fence: number } };
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const access = { kubeconfig: "token-renewed\n", expiresAt, instance, fence: lease.fence };
    const init = {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(access),
    };
    expect((await fetch(`${server.url}/v1/clusters/${name}/access`, init)).status).toBe(204);
  }
}

test("every client renews the access of a cluster while its command runs", {
  timeout: 180_000,
}, async () => {
  const able = clusterClients.filter((client) => missing(client) === false);
  const runs = able.map((client) => clients.start(client, "ocp", server, untilRenewed));
  for (const run of runs) await run.says(/^600$/m);
  await renewAll();
  for (const [index, run] of runs.entries()) {
    expect([able[index], await run.ended], run.all).toEqual([able[index], 0]);
    expect(run.stdout).toMatch(/600\ntoken-\d+\ntoken-renewed\n$/);
  }
});
