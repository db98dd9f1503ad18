/** A hub that is slow, cut off, throttled or not what it should be: every driver only tries again. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { destroyed, reached, refOf, specFor } from "../src/drivers/driver.suite.ts";
import { type Driver, Retry } from "../src/drivers/driver.ts";
import { HubApi } from "../src/drivers/hub/hub-api.ts";
import { configMapKind } from "../src/drivers/hub/kind.ts";
import { hostedClusterKind } from "../src/drivers/hypershift/objects.ts";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import { exampleDriver } from "./example-hub.ts";
import { noControllers } from "./kube-binaries.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { ScriptedHyperShift } from "./scripted-hypershift.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { accountConfig } from "./slots-world.ts";

const cluster = sharedCluster();

describe.skipIf(noControllers)("a hub", () => {
  let namespace: string;
  let proxy: KubeProxy;
  let kubeconfig: string;
  beforeEach(async () => {
    namespace = await cluster.namespace();
    proxy = await KubeProxy.start(cluster);
    kubeconfig = await cluster.configVia(proxy.url, await administrator(namespace));
  });
  afterEach(() => proxy[Symbol.asyncDispose]());
  const connect = () => ApiServer.connect({ kubeconfig });

  test("that breaks at every single call leaves one cluster, and in the end none", async () => {
    await using operator = new ScriptedHyperShift(cluster, namespace);
    operator.controlPlanes = false;
    const more = { namespace, broker: namespace };
    const driver = await exampleDriver("hosted", connect, more);
    const spec = specFor();
    const ref = refOf(spec);
    // The reply of each request is lost once, after the hub has done what it was asked for.
    await withLosses(proxy, () => driver.create(spec));
    await retried(() => reached(driver, ref, "ready"));
    expect(await driver.list()).toMatchObject([{ name: spec.name }]);
    await withLosses(proxy, () => driver.destroy(ref));
    await destroyed(driver, ref);
    expect(await driver.list()).toEqual([]);
  });

  test("that throttles or is cut off is tried again, and nothing is taken for absent", async () => {
    const drivers: Driver[] = [];
    for (const name of ["claimed", "installed", "hosted", "template", "capi"]) {
      drivers.push(await exampleDriver(name, connect, { namespace, argoNamespace: namespace }));
    }
    const calls = (driver: Driver) => [
      () => driver.observe(refOf(specFor())),
      () => driver.list(),
      () => driver.destroy(refOf(specFor())),
      () => driver.create(specFor()),
    ];
    proxy.refuses = () => 429;
    for (const call of drivers.flatMap(calls)) await expect(call()).rejects.toThrow(Retry);
    proxy.refuses = () => undefined;
    proxy.away = true;
    for (const call of drivers.flatMap(calls)) await expect(call()).rejects.toThrow(Retry);
    proxy.away = false;
    for (const driver of drivers) {
      expect(await driver.observe(refOf(specFor()))).toEqual({ phase: "absent" });
    }
  });

  test("whose long list is too old when it goes on is asked again from the beginning", async () => {
    const api = new HubApi(connect);
    const names = Array.from({ length: 501 }, (_, number) => `c${number}`);
    const admin = new HubApi(() => cluster.admin());
    await Promise.all(
      names.map((name) => admin.create(configMapKind, { metadata: { name } }, { namespace })),
    );
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

/** An account that may do everything, as its token can be sent through a proxy. */
async function administrator(namespace: string): Promise<string> {
  const account = { kind: "ServiceAccount", name: "all", namespace };
  await cluster.create(["api", "v1", "namespaces", namespace, "serviceaccounts"], {
    metadata: { name: "all" },
  });
  await cluster.create(["apis", "rbac.authorization.k8s.io", "v1", "clusterrolebindings"], {
    metadata: { name: `all-of-${namespace}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [account],
  });
  return accountConfig(cluster, namespace, "all");
}

/** Repeats the call until none of its requests loses its reply any longer. */
async function withLosses(proxy: KubeProxy, call: () => Promise<unknown>): Promise<void> {
  const lost = new Set<string>();
  proxy.loses = ({ method, path }) => {
    const key = `${method} ${path}`;
    if (lost.has(key)) return false;
    lost.add(key);
    return true;
  };
  await retried(call);
  proxy.loses = () => false;
  expect(lost.size).toBeGreaterThan(1);
}

async function retried(call: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 40; attempt++) {
    try {
      await call();
      return;
    } catch (error) {
      expect(error).toBeInstanceOf(Retry);
    }
  }
  throw new Error("It never worked");
}
