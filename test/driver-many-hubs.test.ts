/** Ten clusters over two hubs, one of which is cut off half-way: two API servers, each behind a proxy. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Cluster } from "../src/api/cluster-schemas.ts";
import type { Hub } from "../src/api/hub-schemas.ts";
import { TestServer } from "./cli-processes.ts";
import { noControllers } from "./kube-binaries.ts";
import { KubeCluster } from "./kube-cluster.ts";
import { installKinds } from "./kube-kinds.ts";
import { kinds, ScriptedClusterApi } from "./scripted-cluster-api.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { TcpProxy } from "./tcp-proxy.ts";

const manifest = fileURLToPath(new URL("../examples/hubs/cluster-api.yaml", import.meta.url));
const patient = { timeout: 120_000, interval: 200 };
const namespace = `many-hubs-${process.pid}`;

/** A hub that a test can cut off: an API server, its controllers, and the way to it. */
async function hub(cluster: KubeCluster) {
  const api = await cluster.admin();
  await api.call({
    method: "POST",
    path: ["api", "v1", "namespaces"],
    body: { metadata: { name: namespace } },
  });
  const proxy = await TcpProxy.start(cluster.address.ports.api);
  const kubeconfig = join(cluster.folder, `via-${proxy.port}.kubeconfig`);
  const text = await readFile(cluster.adminConfig, "utf8");
  await writeFile(kubeconfig, text.replaceAll(cluster.url, `https://127.0.0.1:${proxy.port}`));
  const controllers = new ScriptedClusterApi(cluster, namespace);
  return {
    ...{ proxy, kubeconfig, controllers },
    names: async () => {
      const found = await controllers.api.list(kinds.cluster, { namespace });
      return found.map(({ metadata }) => metadata.name);
    },
    async [Symbol.asyncDispose]() {
      await controllers[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await api.call({ method: "DELETE", path: ["api", "v1", "namespaces", namespace] });
    },
  };
}

interface Lease {
  readonly id: string;
  readonly token: string;
  readonly claims: readonly { readonly id: string; readonly resource: string }[];
}

describe.skipIf(noControllers)("many hubs", () => {
  test("one is cut off half-way: nothing is made twice, lost or forgotten", {
    timeout: 300_000,
  }, async () => {
    await using second = await KubeCluster.start();
    await installKinds(second);
    await using east = await hub(sharedCluster());
    await using west = await hub(second);
    const config = {
      hubs: {
        east: { kubeconfig: east.kubeconfig, limit: 6 },
        west: { kubeconfig: west.kubeconfig, limit: 6 },
      },
      templates: {
        capi: {
          ...{ driver: "cluster-api", hubs: ["east", "west"], namespace, manifest },
          broker: namespace,
          parameters: {
            version: { enum: ["1.34.2", "1.35.0"], default: "1.35.0" },
            workers: { type: "integer", minimum: 1, maximum: 6, default: 2 },
          },
        },
      },
      pools: { capi: { template: "capi", max: 10 } },
    };
    await using server = await TestServer.startWith(config, "--log-level", "error");
    const call = async <Reply>(method: string, path: string, token?: string, body?: object) => {
      const headers = {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { "content-type": "application/json" }),
      };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const reply = await fetch(`${server.url}${path}`, init);
      return (await reply.json().catch(() => ({}))) as Reply;
    };
    const clusters = async () => (await call<{ items: Cluster[] }>("GET", "/v1/clusters")).items;
    const stateOf = async (name: string) => (await call<Hub>("GET", `/v1/hubs/${name}`)).state;

    // On west nothing becomes ready, so that it is cut off with work begun.
    west.controllers.workers = false;
    const asks = Array.from({ length: 10 }, (_, index) => {
      const ask = { holder: `job-${index}`, requestId: `job-${index}`, items: [{ pool: "capi" }] };
      return call<Lease>("POST", "/v1/leases", undefined, { ...ask, ttl: "1h", wait: "0s" });
    });
    await Promise.all(asks);
    await expect.poll(async () => (await west.names()).length, patient).toBeGreaterThanOrEqual(2);
    west.proxy.mode = "cut";
    await expect.poll(() => stateOf("west"), patient).toBe("unreachable");
    const lent = async () => (await clusters()).filter(({ lease }) => lease !== null);
    const planned = await clusters();
    const onEast = planned.filter((each) => each.hub === "east");
    expect(planned).toHaveLength(10);
    expect(onEast).toHaveLength(5);
    await expect.poll(async () => (await lent()).length, patient).toBe(5);
    // What was begun on west is not made again on east.
    expect(await east.names()).toHaveLength(5);

    west.controllers.workers = true;
    west.proxy.mode = "open";
    await expect.poll(async () => (await lent()).length, patient).toBe(10);
    const [there, here] = [await west.names(), await east.names()];
    expect([there.length, here.length]).toEqual([5, 5]);
    expect(new Set([...there, ...here]).size).toBe(10);
    expect((await clusters()).map(({ name, hub: place }) => `${name} ${place}`).sort()).toEqual(
      planned.map(({ name, hub: place }) => `${name} ${place}`).sort(),
    );

    // Each job asks again with its request id, gets its lease, its kubeconfig, and gives it back.
    const released = Array.from({ length: 10 }, async (_, index) => {
      const ask = { holder: `job-${index}`, requestId: `job-${index}`, items: [{ pool: "capi" }] };
      const lease = await call<Lease>("POST", "/v1/leases", undefined, { ...ask, ttl: "1h" });
      const path = `/v1/leases/${lease.id}/claims/${lease.claims[0]?.id}/access`;
      const access = await call<{ kubeconfig: string }>("GET", path, lease.token);
      await call("DELETE", `/v1/leases/${lease.id}`, lease.token);
      return access.kubeconfig;
    });
    const kubeconfigs = await Promise.all(released);
    expect(kubeconfigs.sort()).toEqual([...there, ...here].map((name) => `# of ${name}`).sort());
    await expect.poll(clusters, patient).toEqual([]);
    expect([...(await west.names()), ...(await east.names())]).toEqual([]);
  });
});
