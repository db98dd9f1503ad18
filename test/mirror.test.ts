/** A server that shows its leases on a real API server, with the rights that are shipped and no others. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pause } from "../src/client/pause.ts";
import type { LeaseObject } from "../src/kubernetes/kube-objects.ts";
import type { LeaseStore } from "../src/kubernetes/lease-store.ts";
import { mirrorManifestsOf } from "../src/slots/manifests.ts";
import { TestServer } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { rightOf } from "./kube-rights.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { accountConfig, apply } from "./slots-world.ts";

interface Lease {
  readonly id: string;
  readonly token: string;
  readonly claims: readonly { readonly fence: number }[];
}

const cluster = sharedCluster();

/** A namespace with the account that is shipped, and a server that mirrors into it. */
class MirrorWorld implements AsyncDisposable {
  readonly server: TestServer;
  readonly store: LeaseStore;
  readonly mirror: { readonly namespace: string; readonly kubeconfig: string };

  constructor(server: TestServer, store: LeaseStore, mirror: MirrorWorld["mirror"]) {
    this.server = server;
    this.store = store;
    this.mirror = mirror;
  }

  static async make(via?: KubeProxy, mirrored = true): Promise<MirrorWorld> {
    const namespace = await cluster.namespace();
    await apply(cluster, mirrorManifestsOf(namespace));
    const own = await accountConfig(cluster, namespace, "berth");
    const kubeconfig = via === undefined ? own : await cluster.configVia(via.url, own);
    const mirror = { namespace, kubeconfig };
    const server = await TestServer.startWith({ pools, ...(mirrored && { mirror }) });
    return new MirrorWorld(server, await cluster.store(namespace), mirror);
  }

  async objects(): Promise<readonly LeaseObject[]> {
    return (await this.store.list()).items;
  }

  async holders(): Promise<Record<string, string | undefined>> {
    const objects = await this.objects();
    return Object.fromEntries(objects.map((it) => [it.metadata.name, it.spec?.holderIdentity]));
  }

  /** The mirror is never waited for by anybody else, so all that a test can do is look. */
  async until<Found>(look: () => Promise<Found>, wanted: Found): Promise<void> {
    while (JSON.stringify(await look()) !== JSON.stringify(wanted)) await pause(20);
    expect(await look()).toEqual(wanted);
  }

  async metric(name: string): Promise<string | undefined> {
    const text = await (await fetch(`${this.server.url}/metrics`)).text();
    return new RegExp(`^${name}(?:\\{[^}]*\\})? (.*)$`, "m").exec(text)?.[1];
  }

  async acquire(holder: string, pool = "account"): Promise<Lease> {
    const body = JSON.stringify({
      items: [{ pool }],
      holder,
      ttl: "20s",
      requestId: `key-${holder}`,
    });
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${this.server.url}/v1/leases`, { method: "POST", headers, body });
    expect(reply.status).toBe(201);
    return (await reply.json()) as Lease;
  }

  async release({ id, token }: { id: string; token: string }): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${this.server.url}/v1/leases/${id}`, { method: "DELETE", headers });
  }

  async configure(config: object): Promise<void> {
    await writeFile(join(this.server.folder, "berth.yaml"), JSON.stringify(config));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

const pools = { account: { members: ["acc-1", "acc-2", "Big_One"] } };

describe.skipIf(noKube)("a server with mirror:", { timeout: patienceMs }, () => {
  test("shows each lease while it is held", async () => {
    await using world = await MirrorWorld.make();
    const first = await world.acquire("e2e/1");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    const second = await world.acquire("e2e/2");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1", "berth-acc-2": "e2e/2" });
    const [object] = await world.objects();
    expect(object).toMatchObject({
      metadata: {
        annotations: {
          "berth/pool": "account",
          "berth/resource": "acc-1",
          "berth/lease": first.id,
          "berth/fence": String(first.claims[0]?.fence),
        },
      },
      spec: {
        leaseDurationSeconds: 20,
        leaseTransitions: Number(first.claims[0]?.fence) % 2 ** 31,
      },
    });
    const text = JSON.stringify(await world.objects());
    for (const secret of [first.token, second.token, "key-e2e"]) expect(text).not.toContain(secret);
    await world.release(first);
    await world.until(() => world.holders(), { "berth-acc-2": "e2e/2" });
    await world.until(() => world.metric("berth_mirror_behind"), "0");
    expect(await world.metric("berth_mirror_up")).toBe("1");
    expect(await world.metric("berth_mirror_writes_total")).toBe("2"); // The first kind: created.
  });

  test("writes few of the heartbeats", async () => {
    await using world = await MirrorWorld.make();
    const { id, token } = await world.acquire("e2e/1");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    const [first] = await world.objects();
    const headers = { authorization: `Bearer ${token}` };
    let beats = 0;
    const renewed = async () => {
      await fetch(`${world.server.url}/v1/leases/${id}/heartbeat`, { method: "POST", headers });
      beats += 1;
      const [now] = await world.objects();
      return now?.spec?.renewTime !== first?.spec?.renewTime;
    };
    await world.until(renewed, true);
    const [last] = await world.objects();
    const apartMs =
      Date.parse(last?.spec?.renewTime ?? "") - Date.parse(first?.spec?.renewTime ?? "");
    expect(apartMs).toBeGreaterThanOrEqual(10_000); // Half of the ttl, by the server's own clock.
    expect(beats).toBeGreaterThan(10);
    expect(last?.spec?.acquireTime).toBe(first?.spec?.acquireTime);
  });

  test("corrects the objects after it was killed", async () => {
    await using world = await MirrorWorld.make();
    await world.acquire("e2e/1");
    const second = await world.acquire("e2e/2");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1", "berth-acc-2": "e2e/2" });
    await world.release(second);
    await world.acquire("e2e/3");
    await world.server.stop("SIGKILL");
    const [stray] = await world.objects();
    await world.store.create({
      metadata: { name: "berth-long-gone", labels: { ...stray?.metadata.labels } },
      spec: { holderIdentity: "nobody" },
    });
    await world.server.start();
    await world.until(() => world.holders(), {
      "berth-acc-1": "e2e/1",
      [await bigOne(world)]: "e2e/3",
    });
  });

  test("continues to lend while the API server is unreachable, and catches up", async () => {
    await using proxy = await KubeProxy.start(cluster);
    await using world = await MirrorWorld.make(proxy);
    const first = await world.acquire("e2e/1");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    proxy.away = true;
    proxy.cut();
    await world.until(() => world.metric("berth_mirror_up"), "0");
    await world.release(first);
    await world.acquire("e2e/2");
    expect(await world.holders()).toEqual({ "berth-acc-1": "e2e/1" });
    proxy.away = false;
    await world.until(() => world.metric("berth_mirror_up"), "1");
    await world.until(async () => Object.values(await world.holders()), ["e2e/2"]);
    expect(world.server.log.match(/the mirror in Kubernetes failed/g)).toHaveLength(1);
  });

  test("restores objects that were deleted or edited", async () => {
    await using world = await MirrorWorld.make();
    await world.acquire("e2e/1");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    const [object] = await world.objects();
    if (object === undefined) throw new Error("there is none");
    await world.store.replace({ ...object, spec: { ...object.spec, holderIdentity: "somebody" } });
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    const [edited] = await world.objects();
    if (edited === undefined) throw new Error("there is none");
    await world.store.remove(edited);
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    expect((await world.objects())[0]?.metadata.uid).not.toBe(object.metadata.uid);
  });

  test("does not change an object of another owner, and logs it", async () => {
    await using world = await MirrorWorld.make();
    const foreign = { metadata: { name: "berth-acc-1" }, spec: { holderIdentity: "a leader" } };
    const made = await world.store.create(foreign);
    await world.acquire("e2e/1");
    await world.acquire("e2e/2");
    await world.until(() => world.holders(), { "berth-acc-1": "a leader", "berth-acc-2": "e2e/2" });
    while (!world.server.log.includes("a Lease with this name belongs to another owner"))
      await pause(20);
    const [now] = await world.objects();
    expect(now?.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("writes the other objects if one write is forbidden, and logs which one", async () => {
    await using proxy = await KubeProxy.start(cluster);
    await using world = await MirrorWorld.make(proxy);
    await world.acquire("e2e/1");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    proxy.refuses = ({ method, path }) => {
      return method === "PUT" && path.endsWith("/berth-acc-1") ? 403 : undefined;
    };
    const [object] = await world.objects();
    if (object === undefined) throw new Error("there is none");
    await world.store.replace({ ...object, spec: { ...object.spec, holderIdentity: "somebody" } });
    await world.until(() => world.metric("berth_mirror_up"), "0"); // Nothing else tells it apart.
    await world.acquire("e2e/2");
    await world.until(() => world.holders(), { "berth-acc-1": "somebody", "berth-acc-2": "e2e/2" });
    await world.until(() => world.metric("berth_mirror_up"), "1");
    while (!world.server.log.includes("a mirrored Lease stays unchanged")) await pause(20);
  });

  const held: Record<string, [finalizers: string[], refusal: 422 | undefined]> = {
    "has a foreign finalizer": [["example.com/keep"], undefined],
    "may not be removed": [[], 422],
  };
  test.each(Object.entries(held))(
    "asks once to remove an object that %s",
    async (_, [finalizers, code]) => {
      await using proxy = await KubeProxy.start(cluster);
      await using world = await MirrorWorld.make(proxy);
      const removals = () =>
        proxy.seen.filter(
          ({ method, path }) => method === "DELETE" && path.endsWith("/berth-stuck"),
        );
      proxy.refuses = ({ method }) => (method === "DELETE" ? code : undefined);
      const labels = { "app.kubernetes.io/managed-by": "berth", "berth/mirror": "berth" };
      const metadata = { name: "berth-stuck", labels, finalizers };
      await cluster.create(world.store.path, { metadata });
      await world.until(async () => removals().length > 0, true);
      // Each of these is a look at everything.
      await world.acquire("e2e/1");
      await world.until(async () => (await world.holders())["berth-acc-1"], "e2e/1");
      await world.acquire("e2e/2");
      await world.until(async () => (await world.holders())["berth-acc-2"], "e2e/2");
      await world.until(() => world.metric("berth_mirror_behind"), "0");
      expect(removals()).toHaveLength(1);
    },
  );

  test("needs the rights of the shipped role, and no other", async () => {
    await using proxy = await KubeProxy.start(cluster);
    await using world = await MirrorWorld.make(proxy);
    await world.store.create({ metadata: { name: "berth-acc-2" } });
    const first = await world.acquire("e2e/1");
    await world.acquire("e2e/2");
    await world.until(async () => (await world.holders())["berth-acc-1"], "e2e/1");
    const [object] = await world.objects();
    if (object === undefined) throw new Error("there is none");
    await world.store.replace({ ...object, spec: {} });
    await world.until(async () => (await world.holders())["berth-acc-1"], "e2e/1");
    await world.release(first);
    const rights = ["create", "delete", "get", "list", "update", "watch"].map(
      (it) => `${it} leases`,
    );
    await world.until(async () => [...new Set(proxy.seen.map(rightOf))].sort(), rights);
    const shipped = await readFile(
      new URL("../deploy/kubernetes/mirror.yaml", import.meta.url),
      "utf8",
    );
    const verbs = /verbs:\n((?: +- \w+\n)+)/.exec(shipped)?.[1]?.match(/\w+/g) ?? [];
    expect(verbs.map((verb) => `${verb} leases`).sort()).toEqual(rights);
  });

  test("starts and stops with its configuration", async () => {
    await using world = await MirrorWorld.make(undefined, false);
    await world.acquire("e2e/1");
    expect(await world.metric("berth_mirror_up")).toBeUndefined();
    await world.configure({ pools, mirror: { ...world.mirror, labels: { team: "ci" } } });
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    expect((await world.objects())[0]?.metadata.labels).toMatchObject({ team: "ci" });
    await world.configure({ pools, mirror: world.mirror });
    const team = async () => (await world.objects())[0]?.metadata.labels?.["team"];
    await world.until(team, undefined);
    await world.configure({ pools, mirror: { ...world.mirror, prefix: "other" } });
    await world.until(() => world.holders(), { "other-acc-1": "e2e/1" });
    await world.configure({ pools });
    await world.until(() => world.holders(), {});
    expect(await world.metric("berth_mirror_up")).toBeUndefined();
  });

  test("removes all its objects, also one that changes at that moment", async () => {
    await using proxy = await KubeProxy.start(cluster);
    await using world = await MirrorWorld.make(proxy);
    await world.acquire("e2e/1");
    await world.until(() => world.holders(), { "berth-acc-1": "e2e/1" });
    let edits = 0;
    proxy.before = async ({ method }) => {
      const [object] = await world.objects();
      if (method !== "DELETE" || object === undefined || edits++ > 0) return;
      await world.store.replace({ ...object, spec: { ...object.spec, holderIdentity: "you" } });
    };
    await world.configure({ pools });
    await world.until(() => world.holders(), {});
    expect(edits).toBe(2);
  });
});

/** What is lent third has a name that Kubernetes does not take. */
async function bigOne(world: MirrorWorld): Promise<string> {
  const named = /^berth-big-one-[0-9a-f]{16}$/;
  for (;;) {
    const found = Object.keys(await world.holders()).find((name) => named.test(name));
    if (found !== undefined) return found;
    await pause(20);
  }
}
