/** Namespaces as clusters, through a whole server: lent in a second, with a token for the lease alone. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ClusterAccess } from "../src/api/cluster-schemas.ts";
import { readAccess } from "../src/cli/run/cluster-access.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import type { KubeObject } from "../src/kubernetes/kube-objects.ts";
import { TestServer } from "./cli-processes.ts";
import { ClusterClients, clusterClients, missing } from "./cluster-clients.ts";
import { noKube } from "./kube-binaries.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { sharedCluster } from "./shared-cluster.ts";

/** The shortest that an API server grants a token for. */
const graceMs = 600_000;

describe.skipIf(noKube)("a pool of namespaces", () => {
  const config = () => ({
    templates: {
      ns: { driver: "namespace", kubeconfig: sharedCluster().adminConfig, quota: { pods: 5 } },
    },
    pools: { ns: { template: "ns", size: 1, lifetime: "2h" } },
  });
  const kubectl = (...args: readonly string[]) =>
    execFileSync(join(sharedCluster().binaries, "kubectl"), args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });

  test("gives a job kubectl in a namespace of its own", async () => {
    await using server = await TestServer.startWith(config(), "--log-level", "warn");
    const program = join(sharedCluster().binaries, "kubectl");
    const script = `"${program}" create configmap mine && "${program}" get configmaps -o name`;
    const args = ["run", "--pool", "ns", "--", "sh", "-c", script];
    const { code, stdout, all } = await server.done(args);
    expect(stdout, all).toContain("configmap/mine");
    expect(code).toBe(0);
  });

  test("gives every client the same", { timeout: 180_000 }, async () => {
    await using server = await TestServer.startWith(config(), "--log-level", "warn");
    using clients = new ClusterClients();
    const program = join(sharedCluster().binaries, "kubectl");
    const command = `"${program}" create configmap mine && "${program}" get configmaps -o name`;
    const able = clusterClients.filter((client) => missing(client) === false);
    const runs = able.map((client) => clients.start(client, "ns", server, command));
    for (const [index, run] of runs.entries()) {
      expect([able[index], await run.ended], run.all).toEqual([able[index], 0]);
      expect(run.stdout).toContain("configmap/mine\n");
    }
  });

  test.each([-3, 3])("lends also if the clock of the API server is %i hours off", async (hours) => {
    await using proxy = await KubeProxy.start(sharedCluster());
    proxy.rewrites = ({ method, path }) => {
      if (method !== "POST" || !path.endsWith("/token")) return undefined;
      return (text) => {
        const { status, ...rest } = JSON.parse(text) as { status: { expirationTimestamp: string } };
        const off = Date.parse(status.expirationTimestamp) + hours * 3_600_000;
        const expirationTimestamp = new Date(off).toISOString();
        return JSON.stringify({ ...rest, status: { ...status, expirationTimestamp } });
      };
    };
    const kubeconfig = await sharedCluster().configVia(proxy.url, sharedCluster().adminConfig);
    await using server = await TestServer.startWith(
      {
        templates: { ns: { driver: "namespace", kubeconfig } },
        pools: { ns: { template: "ns", size: 1 } },
      },
      ...["--log-level", "warn"],
    );
    const client = new BerthClient({ url: server.url });
    const lease = await client.acquire({ holder: "job", items: [{ pool: "ns" }] });
    const access = await readAccess(client, lease, lease.claims[0]?.id ?? "");
    const lastsMs = Date.parse(access.expiresAt ?? "") - Date.now();
    expect(lastsMs).toBeGreaterThan(0);
    expect(lastsMs).toBeLessThanOrEqual(3_600_000);
    await client.release(lease);
  });

  test("X5: its token ends with the lease, and its namespace goes with it", async () => {
    await using server = await TestServer.startWith(config(), "--log-level", "warn");
    const call = async (method: string, path: string, token?: string, body?: object) => {
      const headers = {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { "content-type": "application/json" }),
      };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const reply = await fetch(`${server.url}${path}`, init);
      return { status: reply.status, body: (await reply.json().catch(() => ({}))) as never };
    };
    const ask = { holder: "job", items: [{ pool: "ns" }], wait: "60s" };
    const lease = (await call("POST", "/v1/leases", undefined, ask)).body as {
      id: string;
      token: string;
      endsAt: string;
      claims: { id: string; resource: string }[];
    };
    const [claim] = lease.claims;
    const path = `/v1/leases/${lease.id}/claims/${claim?.id}/access`;
    await expect
      .poll(async () => (await call("GET", path, lease.token)).status, { timeout: 30_000 })
      .toBe(200);
    const access = (await call("GET", path, lease.token)).body as ClusterAccess;
    const expiresAt = Date.parse(access.expiresAt ?? "");
    expect(expiresAt).toBeLessThanOrEqual(Date.parse(lease.endsAt) + graceMs);
    const file = join(server.folder, "kubeconfig");
    await writeFile(file, access.kubeconfig, { mode: 0o600 });
    expect(kubectl("--kubeconfig", file, "auth", "can-i", "create", "pods")).toContain("yes");
    await call("DELETE", `/v1/leases/${lease.id}`, lease.token);
    expect((await call("GET", path, lease.token)).status).toBeGreaterThanOrEqual(400);
    const api = await sharedCluster().admin();
    const { server: url = "" } = JSON.parse(access.kubeconfig).clusters[0].cluster;
    expect(url).toBe(sharedCluster().url);
    const namespace: string = JSON.parse(access.kubeconfig)["current-context"];
    await expect
      .poll(
        async () => {
          const found = await api
            .call<KubeObject>({ path: ["api", "v1", "namespaces", namespace] })
            .catch(() => undefined);
          return found === undefined || found.metadata.deletionTimestamp !== undefined;
        },
        { timeout: 30_000 },
      )
      .toBe(true);
  });
});
