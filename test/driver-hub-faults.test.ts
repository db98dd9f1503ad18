/** A hub that is slow, cut off, throttled or not what it should be: every driver only tries again. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pause } from "../src/client/pause.ts";
import { destroyed, refOf, specFor } from "../src/drivers/driver.suite.ts";
import { type ClusterRef, type Driver, type Phase, Retry } from "../src/drivers/driver.ts";
import { HubApi } from "../src/drivers/hub/hub-api.ts";
import { configMapKind } from "../src/drivers/hub/kind.ts";
import { hostedClusterKind } from "../src/drivers/hypershift/objects.ts";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import { exampleDriver } from "./example-hub.ts";
import { type HubWorld, hubDrivers } from "./hub-worlds.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";
import { KubeProxy, type Passing, type Refusal } from "./kube-proxy.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { accountConfig } from "./slots-world.ts";

const cluster = sharedCluster();

describe.skipIf(noControllers)("a hub", { timeout: patienceMs }, () => {
  let namespace: string;
  let proxy: KubeProxy;
  let kubeconfig: string;
  beforeEach(async () => {
    namespace = await cluster.namespace();
    proxy = await KubeProxy.start(cluster);
    kubeconfig = await cluster.configVia(proxy.url, await administrator(namespace));
  });
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]();
    const path = ["apis", "rbac.authorization.k8s.io", "v1", "clusterrolebindings"];
    await (await cluster.admin()).call({ method: "DELETE", path: [...path, bindingOf(namespace)] });
  });
  const connect = () => ApiServer.connect({ kubeconfig });

  describe.each(hubDrivers)("behind the driver %s", (...row) => {
    const [, { template, open }] = row;
    async function opened(): Promise<{ driver: Driver; world: HubWorld }> {
      const world = await open(cluster);
      return { world, driver: await exampleDriver(template, connect, world.more) };
    }

    test("that fails in every way at every call makes one cluster, and in the end none", async () => {
      const { driver, world } = await opened();
      await using _ = world;
      const met = everyFault(proxy);
      await live(driver, world);
      expect([...met].sort()).toEqual([...faults].sort());
    });

    test("that is slow, and ready and not ready again, loses no cluster", async () => {
      const { driver, world } = await opened();
      await using _ = world;
      proxy.before = () => pause(20);
      world.hold(true);
      const spec = specFor();
      const ref = refOf(spec);
      await driver.create(spec);
      for (let turn = 0; turn < 6; turn++) {
        for (let look = 0; look < 3; look++) {
          expect(["creating", "resuming", "ready"]).toContain((await driver.observe(ref)).phase);
          await driver.create(spec);
        }
        world.hold(turn % 2 === 1);
      }
      world.hold(false);
      await seen(driver, ref, "ready");
      expect(await driver.list()).toMatchObject([{ name: spec.name }]);
      await destroyed(driver, ref);
    });

    test("whose finalizers stay tells what blocks, and forgets nothing", async () => {
      const { driver, world } = await opened();
      await using _ = world;
      const spec = specFor();
      const ref = refOf(spec);
      await driver.create(spec);
      await seen(driver, ref, "ready");
      world.stick(true);
      await driver.destroy(ref);
      const blocking = async () => (await driver.observe(ref)).blocking?.length ?? 0;
      await expect.poll(blocking, { timeout: patienceMs }).toBeGreaterThan(0);
      for (let again = 0; again < 3; again++) {
        await driver.destroy(ref);
        expect((await driver.observe(ref)).phase).toBe("destroying");
        expect(await driver.list()).toMatchObject([{ name: spec.name }]);
      }
      world.stick(false);
      await destroyed(driver, ref);
      expect(await driver.list()).toEqual([]);
    });

    test("on which others write at the same time only tries again", async () => {
      const { driver, world } = await opened();
      await using _ = world;
      let writes = 0;
      // Somebody changes the cluster after the driver has read it, and before it writes.
      proxy.before = async ({ method, path }) => {
        const name = /berth-[0-9a-f]{20}/.exec(path)?.[0];
        if (!["PATCH", "DELETE"].includes(method) || name === undefined || writes >= 4) return;
        const found = await world.main(name);
        const metadata = { annotations: { seen: String(++writes) } };
        if (found !== undefined) await world.controllers.change(world.kind, found, { metadata });
      };
      await live(driver, world);
      expect(writes).toBeGreaterThan(1);
    });

    test("where a cluster is deleted by somebody else never says that it is ready", async () => {
      const { driver, world } = await opened();
      await using _ = world;
      const spec = specFor();
      const ref = { ...refOf(spec), handle: await driver.create(spec) };
      await seen(driver, ref, "ready");
      const found = await world.main(spec.name);
      if (found !== undefined) await world.controllers.api.remove(world.kind, found);
      const phase = async () => (await driver.observe(ref)).phase;
      await expect.poll(phase, { timeout: patienceMs }).not.toBe("ready");
      for (let look = 0; look < 10; look++) {
        expect(["destroying", "failed", "absent"]).toContain(await phase());
      }
      await destroyed(driver, ref);
      expect(await driver.list()).toEqual([]);
    });
  });

  test("that asks for patience gets it, and not more than it should", async () => {
    const api = new HubApi(connect);
    proxy.refuses = () => 429;
    proxy.retryAfterSeconds = () => 0;
    await expect(api.list(configMapKind, { namespace })).rejects.toThrow(Retry);
    expect(proxy.seen).toHaveLength(4);
    proxy.retryAfterSeconds = () => 3_600;
    await expect(api.list(configMapKind, { namespace })).rejects.toThrow(Retry);
    expect(proxy.seen).toHaveLength(5);
    proxy.retryAfterSeconds = () => 0;
    proxy.refuses = () => (proxy.seen.length < 7 ? 429 : undefined);
    expect(await api.list(configMapKind, { namespace })).toEqual(expect.any(Array));
  });

  test("whose long list is too old when it goes on is asked again from the beginning", async () => {
    const api = new HubApi(connect);
    const names = Array.from({ length: 501 }, (_, number) => `c${number}`);
    const admin = new HubApi(() => cluster.admin());
    // All at once take longer than one call may take, if the machine is busy.
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(
        names
          .slice(at, at + 50)
          .map((name) => admin.create(configMapKind, { metadata: { name } }, { namespace })),
      );
    }
    let expired = 0;
    proxy.refuses = ({ path }) => {
      if (!path.includes("continue=") || expired++ > 0) return undefined;
      return 410;
    };
    const found = await api.list(configMapKind, { namespace });
    expect(found.filter(({ metadata }) => /^c\d+$/.test(metadata.name))).toHaveLength(501);
    expect(expired).toBe(2);
  });

  test("without the kind says what to install", async () => {
    const api = new HubApi(connect);
    for (const unknown of [
      { ...hostedClusterKind, plural: "nosuchthings" },
      { ...hostedClusterKind, group: "no.example.com" },
    ]) {
      const call = api.find(unknown, "x", { namespace });
      await expect(call).rejects.toThrow(Retry);
      await expect(call).rejects.toThrow(
        `it does not know the kind HostedCluster of ${unknown.group}/v1beta1. Install HyperShift there`,
      );
    }
  });
});

const bindingOf = (namespace: string) => `all-of-${namespace}`;

/** An account that may do everything, as its token can be sent through a proxy. */
async function administrator(namespace: string): Promise<string> {
  const account = { kind: "ServiceAccount", name: "all", namespace };
  await cluster.create(["api", "v1", "namespaces", namespace, "serviceaccounts"], {
    metadata: { name: "all" },
  });
  await cluster.create(["apis", "rbac.authorization.k8s.io", "v1", "clusterrolebindings"], {
    metadata: { name: bindingOf(namespace) },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [account],
  });
  return accountConfig(cluster, namespace, "all");
}

/** What can happen to one call, each once. */
const faults = ["cut", "throttled", 429, 500, 503, 409, 410, "lost"] as const;
type Fault = (typeof faults)[number];

/** 410 is for lists, 409 for writes. */
function isPossible(fault: Fault, { method, path }: Passing): boolean {
  if (fault === 410) return method === "GET" && /s(?:\?|$)/.test(path);
  return fault !== 409 || method !== "GET";
}

/** Every different call meets all of them, one after the other. Returns those that have happened. */
function everyFault(proxy: KubeProxy): ReadonlySet<Fault> {
  const met = new Set<Fault>();
  const times = new Map<string, number>();
  const now = new WeakMap<Passing, Fault>();
  proxy.cuts = (passing) => {
    const key = `${passing.method} ${passing.path}`;
    const count = times.get(key) ?? 0;
    times.set(key, count + 1);
    const fault = faults.filter((each) => isPossible(each, passing))[count];
    if (fault === undefined) return false;
    met.add(fault);
    now.set(passing, fault);
    return fault === "cut";
  };
  proxy.loses = (passing) => now.get(passing) === "lost";
  proxy.retryAfterSeconds = (passing) => (now.get(passing) === "throttled" ? 0 : undefined);
  proxy.refuses = (passing): Refusal | undefined => {
    const fault = now.get(passing);
    if (fault === "throttled") return 429;
    return typeof fault === "number" ? fault : undefined;
  };
  return met;
}

/** Repeats the call as the provisioner does. */
async function retried<Result>(call: () => Promise<Result>): Promise<Result> {
  const untilMs = performance.now() + patienceMs / 2;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      expect(error).toBeInstanceOf(Retry);
      if (performance.now() > untilMs) throw error;
    }
  }
}

/** Resolves in this phase. What exists is never taken for absent or failed on the way. */
async function seen(driver: Driver, ref: ClusterRef, phase: Phase): Promise<void> {
  const untilMs = performance.now() + patienceMs / 2;
  for (;;) {
    const { phase: now, message = "" } = await retried(() => driver.observe(ref));
    if (now === phase) return;
    expect(["creating", "resuming", "ready"], message).toContain(now);
    if (performance.now() > untilMs) throw new Error(`It is ${now}, not ${phase}: ${message}`);
    await pause(50);
  }
}

async function live(driver: Driver, world: HubWorld): Promise<void> {
  const spec = specFor();
  const ref = refOf(spec);
  await retried(() => driver.create(spec));
  await seen(driver, ref, "ready");
  await retried(() => driver.credentials(ref));
  await retried(async () => driver.mark?.(ref, { "berth-space": "team-a" }));
  expect((await world.main(spec.name))?.metadata.labels).toMatchObject({ "berth-space": "team-a" });
  expect(await retried(() => driver.list())).toMatchObject([{ name: spec.name }]);
  const patient: Driver = Object.assign(Object.create(driver), {
    observe: (which: ClusterRef) => retried(() => driver.observe(which)),
    destroy: (which: ClusterRef) => retried(() => driver.destroy(which)),
  });
  await destroyed(patient, ref);
  expect(await retried(() => driver.list())).toEqual([]);
  expect(await world.main(spec.name)).toBe(undefined);
}
