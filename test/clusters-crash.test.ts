/**
 * `kill -9` of the server and of the provisioner, again and again, while clusters are made and
 * destroyed: afterwards exactly the wanted ones exist. `BERTH_KILLS=100` kills more often.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Cluster } from "../src/api/cluster-schemas.ts";
import { ScriptedWorld, scriptedProgram } from "../src/drivers/command/scripted-world.suite.ts";
import { externalName } from "../src/drivers/names.ts";
import { type Process, TestServer } from "./cli-processes.ts";
import { findKubeBinaries, noKube } from "./kube-binaries.ts";

const kills = Number(process.env["BERTH_KILLS"] ?? 4);
/** The ttl of a provisioner that was killed, and what its clusters need after it. */
const settleMs = 240_000;
const patienceMs = 1_800_000;

interface World extends AsyncDisposable {
  /** The template, as the file has it. */
  readonly template: object;
  /** The names of all that exists outside. */
  exists(): Promise<readonly string[]>;
}

async function scriptedWorld(): Promise<World> {
  const world = await ScriptedWorld.open();
  await world.before("create", "sleep 0.1");
  await world.before("destroy", "sleep 0.1");
  const env = { WORLD: world.folder };
  return {
    template: { driver: "command", command: [scriptedProgram], env, hibernates: true },
    exists: () => world.clusters(),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Takes clusters and gives them back until it is stopped. The server may be gone at any moment. */
async function useClusters(server: TestServer, stop: AbortSignal): Promise<void> {
  const headers = { "content-type": "application/json" };
  while (!stop.aborted) {
    const items = [{ pool: "kube" }];
    const body = JSON.stringify({ items, holder: "job", wait: "5s", ttl: "10s" });
    try {
      const reply = await fetch(`${server.url}/v1/leases`, { method: "POST", headers, body });
      const { id, token } = (await reply.json()) as { id: string; token?: string };
      if (token === undefined) continue;
      await pause(100);
      const authorization = { authorization: `Bearer ${token}` };
      await fetch(`${server.url}/v1/leases/${id}`, { method: "DELETE", headers: authorization });
    } catch {
      await pause(50);
    }
  }
}

async function clustersOf({ url }: TestServer): Promise<readonly Cluster[]> {
  const reply = await fetch(`${url}/v1/clusters?limit=1000`);
  return ((await reply.json()) as { items: Cluster[] }).items;
}

/** The pool has what it should have, and nothing else exists outside. */
async function settled(server: TestServer, world: World): Promise<void> {
  await expect
    .poll(
      async () => {
        const clusters = await clustersOf(server);
        const states = clusters.map(({ state }) => state).sort();
        const books = clusters.map(({ instance }) => externalName(instance)).sort();
        return { states, unknown: missing(await world.exists(), books) };
      },
      { timeout: settleMs, interval: 500 },
    )
    .toEqual({ states: ["free", "hibernated"], unknown: [] });
  const books = (await clustersOf(server)).map(({ instance }) => externalName(instance));
  expect([...(await world.exists())].sort()).toEqual([...books].sort());
}

function missing(found: readonly string[], known: readonly string[]): string[] {
  return found.filter((name) => !known.includes(name));
}

const pools = { kube: { template: "t", size: 2, running: 1, max: 4, ttl: "10s", lockDelay: "0s" } };

describe("killed in the middle of creates and destroys,", () => {
  test(
    `the server makes no cluster twice and forgets none (${kills} kills)`,
    async () => {
      await using world = await scriptedWorld();
      const config = { templates: { t: world.template }, pools };
      await using server = await TestServer.startWith(config, "--log-level", "warn");
      const stop = new AbortController();
      const jobs = [1, 2, 3].map(() => useClusters(server, stop.signal));
      for (let kill = 0; kill < kills; kill++) {
        await pause(300 + ((kill * 379) % 1_500));
        await server.stop("SIGKILL");
        await server.start();
      }
      stop.abort();
      await Promise.all(jobs);
      await settled(server, world);
    },
    patienceMs,
  );

  test(
    `a provisioner elsewhere, and its server, make no cluster twice and forget none (${kills} kills)`,
    async () => {
      await using world = await scriptedWorld();
      const config = { templates: { t: world.template }, pools };
      const options = ["--no-provisioner", "--log-level", "warn"];
      await using server = await TestServer.startWith(config, ...options);
      const file = join(server.folder, "berth.yaml");
      const start = () => server.berth(["provisioner", "--config", file, "--data", server.folder]);
      let provisioner: Process = start();
      const stop = new AbortController();
      const jobs = [1, 2, 3].map(() => useClusters(server, stop.signal));
      for (let kill = 0; kill < kills; kill++) {
        await pause(700 + ((kill * 379) % 2_000));
        provisioner.signal("SIGKILL");
        // Both at once, or the provisioner alone while its server goes on.
        if (kill % 2 === 0) {
          await server.stop("SIGKILL");
          await server.start();
        }
        await provisioner.ended;
        provisioner = start();
      }
      stop.abort();
      await Promise.all(jobs);
      await settled(server, world);
    },
    patienceMs,
  );
});

const localDriver = fileURLToPath(
  new URL("../examples/drivers/local-kubernetes.ts", import.meta.url),
);

/** Real API servers, which the example driver makes. */
async function localWorld(): Promise<World & { readonly folder: string }> {
  const found = findKubeBinaries();
  if ("missing" in found) throw new Error(found.missing);
  const folder = await mkdtemp(join(tmpdir(), "berth-local-kubernetes-"));
  const program = join(folder, "driver.ts");
  const clusters = join(folder, "clusters");
  await mkdir(clusters);
  await copyFile(localDriver, program);
  await chmod(program, 0o755);
  const env = { CLUSTERS: clusters, KUBE_BINARIES: found.folder };
  return {
    folder: clusters,
    // The Node that runs this test may not be the one in PATH.
    template: {
      ...{ driver: "command", command: [process.execPath, program], env },
      ...{ hibernates: true, timeout: "2m" },
    },
    exists: () => readdir(clusters),
    async [Symbol.asyncDispose]() {
      for (const pid of processesOf(clusters)) process.kill(pid, "SIGKILL");
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Programs that run in this folder. */
function processesOf(folder: string): number[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const isPart = /(?:^|\/)(?:etcd|kube-apiserver)$/.test(words[0] ?? "");
      return isPart && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) ? [Number(pid)] : [];
    } catch {
      return []; // It has just ended.
    }
  });
}

describe.skipIf(noKube)("with real API servers as clusters,", () => {
  test("a job gets one that kubectl can use, and nothing of it is left", async () => {
    await using world = await localWorld();
    const config = { templates: { t: world.template }, pools: { kube: { template: "t" } } };
    await using server = await TestServer.startWith(config, "--log-level", "warn");
    const found = findKubeBinaries();
    const kubectl = join("folder" in found ? found.folder : "", "kubectl");
    const args = ["run", "--pool", "kube", "--", kubectl, "get", "ns", "-o", "name"];
    const { code, stdout } = await server.done(args);
    expect(stdout.split("\n")).toContain("namespace/kube-system");
    expect(code).toBe(0);
    await expect.poll(() => world.exists(), { timeout: 60_000 }).toEqual([]);
    expect(processesOf(world.folder)).toEqual([]);
  }, 240_000);

  test(
    "exactly the wanted processes run after many kills of the server",
    async () => {
      await using world = await localWorld();
      const config = { templates: { t: world.template }, pools };
      await using server = await TestServer.startWith(config, "--log-level", "warn");
      const stop = new AbortController();
      const jobs = [useClusters(server, stop.signal)];
      for (let kill = 0; kill < Math.ceil(kills / 2); kill++) {
        await pause(500 + ((kill * 379) % 2_500));
        await server.stop("SIGKILL");
        await server.start();
      }
      stop.abort();
      await Promise.all(jobs);
      await settled(server, world);
      // One is awake: an etcd and a kube-apiserver.
      expect(processesOf(world.folder)).toHaveLength(2);
    },
    patienceMs,
  );
});
