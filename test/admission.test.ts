/** A server whose pool is lent only while a real API server's nodes have room for another cluster. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Pool } from "../src/api/schemas.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { pause } from "../src/client/pause.ts";
import { TestServer } from "./cli-processes.ts";
import { guardIn, removePod } from "./kube-admission.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { aNode, aPod, hostedCluster, OwnNodes } from "./kube-kinds.ts";
import type { KubeProxy } from "./kube-proxy.ts";
import { rightOf } from "./kube-rights.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();

interface Answer {
  readonly id: string;
  readonly reason?: { readonly code: string; readonly message: string };
}

/** A server with such a pool. */
class GuardedWorld implements AsyncDisposable {
  readonly server: TestServer;
  readonly proxy: KubeProxy;
  readonly namespace: string;

  constructor(server: TestServer, proxy: KubeProxy, namespace: string) {
    this.server = server;
    this.proxy = proxy;
    this.namespace = namespace;
  }

  static async make(more: object = {}): Promise<GuardedWorld> {
    const { admission, proxy, namespace } = await guardIn(cluster);
    const pools = { cluster: { count: 2, admission: admission(more) }, aws: { count: 1 } };
    return new GuardedWorld(await TestServer.start(pools), proxy, namespace);
  }

  async ask(holder: string, ...pools: readonly string[]): Promise<{ status: number } & Answer> {
    const items = (pools.length === 0 ? ["cluster"] : pools).map((pool) => ({ pool }));
    const body = JSON.stringify({ items, holder, requestId: `key-${holder}` });
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${this.server.url}/v1/leases`, { method: "POST", headers, body });
    return { status: reply.status, ...((await reply.json()) as Answer) };
  }

  /** Asks again, which is no second request, until it is answered so. */
  async until(
    holder: string,
    isSo: (answer: { status: number } & Answer) => boolean,
  ): Promise<void> {
    while (!isSo(await this.ask(holder))) await pause(50);
  }

  async admission(): Promise<Pool["admission"]> {
    return (await new BerthClient({ url: this.server.url }).pool("cluster")).admission;
  }

  async metric(name: string): Promise<string | undefined> {
    const text = await (await fetch(`${this.server.url}/metrics`)).text();
    return new RegExp(`^${name}(?:\\{[^}]*\\})? (.*)$`, "m").exec(text)?.[1];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}

const tooFull =
  /2 of 2 cluster free, but the capacity check says: too little CPU remains: 3000m needed, 2000m free; next in line/;

describe.skipIf(noKube)("a pool with admission", { timeout: patienceMs }, () => {
  let nodes: OwnNodes;
  beforeAll(async () => {
    nodes = await OwnNodes.reserve(cluster);
    await aNode(cluster, "worker", { cpu: "4", memory: "64Gi" });
  }, patienceMs);
  afterAll(() => nodes?.[Symbol.asyncDispose]());

  test("is not lent while the cluster is full, reports the reason, and is lent when there is capacity", async () => {
    await using world = await GuardedWorld.make();
    await aPod(cluster, world.namespace, "big", { cpu: "2", memory: "1Gi" }, "worker");
    const { id, status } = await world.ask("e2e/1");
    expect(status).toBe(202);
    await world.until("e2e/1", ({ reason }) => tooFull.test(reason?.message ?? ""));
    expect((await world.ask("e2e/1")).reason?.code).toBe("admission");
    expect(await world.metric("berth_admission_room")).toBe("0");
    expect(await world.admission()).toMatchObject({
      ...{ by: "the capacity check", credits: 0, until: null, found: "none" },
      why: "too little CPU remains: 3000m needed, 2000m free",
      lookedAt: expect.stringMatching(/^\d{4}-/),
      nextLookAt: expect.stringMatching(/^\d{4}-/),
    });
    const looks = await world.admission();
    expect(Date.parse(looks?.nextLookAt ?? "")).toBeGreaterThan(Date.parse(looks?.lookedAt ?? ""));
    const wide = await world.server.done(["pools", "cluster", "-o", "wide"]);
    expect(wide.stdout).toContain("0: too little CPU remains: 3000m needed, 2000m free");
    expect((await world.server.done(["queue", "-o", "wide"])).stdout).toContain("capacity check");
    expect((await world.server.done(["explain", id])).stdout).toContain("too little CPU remains");
    await removePod(cluster, world.namespace, "big");
    await world.until("e2e/1", (answer) => answer.status === 201);
    expect(await world.metric("berth_admission_room")).toBe("1");
    expect(await world.admission()).toMatchObject({ credits: 0, why: null, found: "room" });
  });

  test("counts existing clusters against the limit", async () => {
    await using world = await GuardedWorld.make({ clusters: 1 });
    await hostedCluster(cluster, world.namespace, "one");
    await world.ask("e2e/1");
    const full = /there are 1 clusters, and 1 is the limit/;
    await world.until("e2e/1", ({ reason }) => full.test(reason?.message ?? ""));
  });

  test("is not lent while the capacity check fails, and reports the failure", async () => {
    await using world = await GuardedWorld.make();
    world.proxy.away = true;
    await world.ask("e2e/1");
    const blind = /capacity check says: the check failed: the API server cannot be reached/;
    await world.until("e2e/1", ({ reason }) => blind.test(reason?.message ?? ""));
    expect(await world.metric("berth_admission_up")).toBe("0");
    world.proxy.away = false;
    await world.until("e2e/1", (answer) => answer.status === 201);
    expect(await world.metric("berth_admission_up")).toBe("1");
  });

  test("checks only for a request that nothing else blocks, with the shipped rights", async () => {
    await using world = await GuardedWorld.make();
    const first = await world.ask("aws/1", "aws");
    expect(first.status).toBe(201);
    expect((await world.ask("both", "cluster", "aws")).status).toBe(202);
    // One that needs nothing else is looked at for, and is served before.
    await world.until("e2e/1", (answer) => answer.status === 201);
    const rights = [...new Set(world.proxy.seen.map(rightOf))].sort();
    const wanted = ["nodes", "pods", "machineautoscalers", "hostedclusters", "resourcequotas"];
    expect(rights).toEqual(wanted.map((each) => `list ${each}`).sort());
    const looks = world.proxy.seen.filter((passing) => rightOf(passing) === "list nodes").length;
    // `both` waits for aws all the while: once nobody else waits, nobody looks.
    while ((await world.metric("berth_admission_looks_total")) !== String(looks)) await pause(20);
    await world.server.done(["pools"]);
    expect(world.proxy.seen.filter((passing) => rightOf(passing) === "list nodes")).toHaveLength(
      looks,
    );
  });

  test("keeps a granted lease over a crash, and needs a new check for another lease", async () => {
    await using world = await GuardedWorld.make();
    await world.until("e2e/1", (answer) => answer.status === 201);
    world.proxy.away = true;
    await world.server.stop("SIGKILL");
    await world.server.start();
    const again = await world.ask("e2e/2");
    expect(again.status).toBe(202);
    await world.until("e2e/2", ({ reason }) => /the check failed/.test(reason?.message ?? ""));
  });
});
