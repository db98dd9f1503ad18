/** The roles of deploy/hubs: each driver works with its own, and uses every right that it gives. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Application, applicationKind } from "../src/drivers/caas/objects.ts";
import { destroyed, reached, refOf, specFor } from "../src/drivers/driver.suite.ts";
import { type ClusterRef, type Driver, Retry } from "../src/drivers/driver.ts";
import { HubApi } from "../src/drivers/hub/hub-api.ts";
import { clustersOnHub } from "../src/drivers/hub/hub-clusters.ts";
import { brokerLabel } from "../src/drivers/hub/ownership.ts";
import { type HostedCluster, hostedClusterKind } from "../src/drivers/hypershift/objects.ts";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import { exampleDriver } from "./example-hub.ts";
import { hubAccount } from "./hub-account.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";
import { hostedClusterSpec } from "./kube-kinds.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { rightOf } from "./kube-rights.ts";
import { ScriptedOperator } from "./scripted-caas.ts";
import { ScriptedClusterApi } from "./scripted-cluster-api.ts";
import { ScriptedHive } from "./scripted-hive.ts";
import { ScriptedHyperShift } from "./scripted-hypershift.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
const budget = { bytesMax: 10_000, timeMsMax: 10_000 };

const sorted = (rights: Iterable<string>) => [...new Set(rights)].sort();

describe.skipIf(noControllers)("the roles of deploy/hubs", { timeout: patienceMs }, () => {
  let namespace: string;
  let proxy: KubeProxy;
  beforeEach(async () => {
    namespace = await cluster.namespace();
    proxy = await KubeProxy.start(cluster);
  });
  afterEach(() => proxy[Symbol.asyncDispose]());

  /** A driver as the account of this file, and what the file gives it. */
  async function asAccount(name: string, template: string, more: object = {}) {
    const { kubeconfig: own, granted } = await hubAccount(cluster, name, namespace);
    const kubeconfig = await cluster.configVia(proxy.url, own);
    const changed = { namespace, broker: namespace, ...more };
    const driver = await exampleDriver(template, () => ApiServer.connect({ kubeconfig }), changed);
    return { driver, granted };
  }

  /** Every account may discover kinds, and ask who it is. */
  const used = () =>
    proxy.seen.map(rightOf).filter((right) => !/ $|selfsubjectreviews/.test(right));

  async function live(driver: Driver): Promise<ClusterRef> {
    const spec = specFor();
    expect(await driver.observe(refOf(spec))).toEqual({ phase: "absent" });
    await driver.create(spec);
    await driver.create(spec);
    await reached(driver, refOf(spec), "ready");
    await driver.credentials(refOf(spec));
    await driver.mark?.(refOf(spec), { "berth-space": "team-a" });
    const text = await driver.logs(refOf(spec), budget);
    expect(text).not.toMatch(/could not be read/);
    if (driver.capabilities.hibernates) {
      await driver.hibernate(refOf(spec));
      await reached(driver, refOf(spec), "hibernated");
      await driver.resume(refOf(spec));
      await reached(driver, refOf(spec), "ready");
    }
    expect(await driver.list()).toMatchObject([{ name: spec.name }]);
    return refOf(spec);
  }

  test("hive-claims: with what Hive adds for each claim, and no Secrets before", async () => {
    await using hive = new ScriptedHive(cluster, namespace);
    const labels = { product: "ocp", cloud: "aws", version: "4.20" };
    await hive.pool("empty", labels, 0);
    const { driver, granted } = await asAccount("hive-claims", "claimed");
    // One claim moves, which takes a change and a deletion.
    const moving = specFor();
    await driver.create(moving);
    await hive.pool("p", labels, 2);
    await expect
      .poll(() => driver.create(moving).then(() => driver.observe(refOf(moving)), String), {
        timeout: 40_000,
      })
      .toMatchObject({ phase: "ready" });
    await destroyed(driver, refOf(moving));
    await destroyed(driver, await live(driver));
    const byHive = ["get secrets", "patch clusterdeployments", "list clusterprovisions"];
    expect(sorted(used())).toEqual(sorted([...granted, ...byHive]));
  });

  test("hive-deployments", async () => {
    await using _hive = new ScriptedHive(cluster, namespace, `${brokerLabel}=${namespace}`);
    const { driver, granted } = await asAccount("hive-deployments", "installed");
    await destroyed(driver, await live(driver));
    expect(sorted(used())).toEqual(sorted(granted));
  });

  test("hypershift", async () => {
    await using operator = new ScriptedHyperShift(cluster, namespace);
    operator.controlPlanes = false;
    const { driver, granted } = await asAccount("hypershift", "hosted");
    const ref = await live(driver);
    const found = await operator.api.find<HostedCluster>(hostedClusterKind, ref.name, {
      namespace,
    });
    const annotations = { "hypershift.openshift.io/cleanup-cloud-resources": null };
    if (found !== undefined) {
      await operator.change(hostedClusterKind, found, { metadata: { annotations } });
    }
    await destroyed(driver, ref);
    // One whose HostedCluster was never made.
    const half = specFor();
    proxy.refuses = ({ method, path }) =>
      method === "POST" && path.endsWith("/hostedclusters") ? 403 : undefined;
    await expect(driver.create(half)).rejects.toThrow(Retry);
    await destroyed(driver, refOf(half));
    expect(sorted(used())).toEqual(sorted(granted));
  });

  test("caas", async () => {
    const argoNamespace = await cluster.namespace();
    await using operator = new ScriptedOperator(cluster, namespace, argoNamespace);
    const { driver, granted } = await asAccount("caas", "template", { argoNamespace });
    const ref = await live(driver);
    // It fails after what belongs to it was written down; meanwhile there is more of it.
    proxy.refuses = ({ method, path }) =>
      method === "DELETE" && path.includes("/clustertemplateinstances/") ? 403 : undefined;
    await expect(driver.destroy(ref)).rejects.toThrow(Retry);
    const within = { namespace: argoNamespace };
    for (const each of await operator.api.list<Application>(applicationKind, within)) {
      const more = ["ClusterDeployment", "ClusterClaim"].map((kind) => {
        return { group: "hive.openshift.io", version: "v1", kind, name: "x", ...within };
      });
      const resources = [...(each.status?.resources ?? []), ...more];
      await operator.setStatus(applicationKind, each, { resources });
    }
    proxy.refuses = () => undefined;
    await destroyed(driver, ref);
    expect(sorted(used())).toEqual(sorted(granted));
  });

  test("cluster-api", async () => {
    await using _controllers = new ScriptedClusterApi(cluster, namespace);
    const { driver, granted } = await asAccount("cluster-api", "capi");
    await destroyed(driver, await live(driver));
    expect(sorted(used())).toEqual(sorted(granted));
  });

  test("foreign: lists the clusters of all namespaces, and says which right is missing", async () => {
    const { kubeconfig: own } = await hubAccount(cluster, "foreign", namespace);
    const kubeconfig = await cluster.configVia(proxy.url, own);
    const hub = new HubApi(() => ApiServer.connect({ kubeconfig }));
    const { group, version, plural, kind } = hostedClusterKind;
    const path = ["apis", group, version, "namespaces", namespace, plural];
    const metadata = { name: "ann-7", labels: { team: namespace, owner: "ann" } };
    const body = { apiVersion: `${group}/${version}`, kind, metadata, spec: hostedClusterSpec };
    await cluster.create(path, body);
    const read = () => clustersOnHub(hub, { team: namespace });
    expect(await read()).toMatchObject([
      { kind, namespace, name: "ann-7", owner: "ann", state: "not ready", instance: null },
    ]);
    expect(sorted(used())).toEqual(["list clusterdeployments", "list hostedclusters"]);
    proxy.refuses = ({ path: called }) =>
      called.includes("/clusterdeployments") ? 403 : undefined;
    await expect(read()).rejects.toThrow(Retry);
    const admin = await cluster.admin();
    await admin.call({ method: "DELETE", path: [...path, "ann-7"] });
  });
});
