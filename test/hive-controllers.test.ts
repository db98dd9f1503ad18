/** The driver hive against Hive's own controllers, with its own definitions. The clusters are fake; all else is real. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { refOf, specFor } from "../src/drivers/driver.suite.ts";
import type { ClusterRef, Driver, Observation, Phase } from "../src/drivers/driver.ts";
import { type ClusterClaim, claimKind, deploymentKind } from "../src/drivers/hive/objects.ts";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import { exampleDriver, exampleTemplate } from "./example-hub.ts";
import { fakeCluster, HiveHub } from "./hive-hub.ts";
import { noHive } from "./hive-program.ts";
import { hubAccount } from "./hub-account.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";

const timeout = patienceMs - 40_000;
const budget = { bytesMax: 20_000, timeMsMax: 20_000 };
const labels = { product: "ocp", cloud: "aws", version: "4.20" };

describe.skipIf(noControllers)("Hive's own controllers", { timeout: patienceMs }, () => {
  let hub: HiveHub;
  beforeAll(async () => {
    if (!noHive) hub = await HiveHub.start();
  }, patienceMs);
  afterAll(() => hub?.[Symbol.asyncDispose](), patienceMs);
  beforeEach((context) => {
    if (noHive) context.skip(noHive);
  });

  /** Resolves with all that was seen on the way. */
  async function reaches(driver: Driver, ref: ClusterRef, phase: Phase) {
    const seen: Observation[] = [];
    await expect
      .poll(
        async () => {
          const now = await driver.observe(ref);
          seen.push(now);
          return now.phase === phase ? phase : `${now.phase} ${now.message ?? ""}`;
        },
        { timeout, interval: 100 },
      )
      .toBe(phase);
    return seen;
  }

  /** As the provisioner does: again, if Hive has changed the cluster at the same time. */
  const done = (call: () => Promise<void>) =>
    expect.poll(() => call().then(() => "done", String), { timeout }).toBe("done");

  /** As the provisioner does: again, whenever the cluster is not being destroyed. */
  async function destroyed(driver: Driver, ref: ClusterRef): Promise<void> {
    await expect
      .poll(
        async () => {
          const { phase, message = "" } = await driver.observe(ref);
          if (phase !== "destroying" && phase !== "absent") await driver.destroy(ref);
          return phase === "absent" ? phase : `${phase} ${message}`;
        },
        { timeout, interval: 100 },
      )
      .toBe("absent");
  }

  /** With the account of deploy/hubs, and with nothing more. */
  async function claims() {
    const namespace = await hub.pools();
    const { kubeconfig } = await hubAccount(hub.cluster, "hive-claims", namespace);
    const more = { namespace, broker: namespace };
    const driver = await exampleDriver("claimed", () => ApiServer.connect({ kubeconfig }), more);
    return { namespace, driver };
  }

  const claimOf = (namespace: string, name: string) =>
    hub.api.find<ClusterClaim>(claimKind, name, { namespace });

  const ofPool = async (namespace: string) => {
    const all = await hub.deployments();
    return all.filter(({ spec }) => spec?.clusterPoolRef?.namespace === namespace);
  };

  test("assign a claim, let its account read the access, and destroy the cluster with it", async () => {
    const { namespace, driver } = await claims();
    await hub.pool(namespace, "p", labels, { size: 1, runningCount: 1 });
    await expect.poll(() => hub.stock(namespace, "p"), { timeout }).toMatchObject({ ready: 1 });
    const spec = specFor();
    await driver.create(spec);
    await driver.create(spec);
    await reaches(driver, refOf(spec), "ready");
    const cluster = (await claimOf(namespace, spec.name))?.spec?.namespace ?? "";
    // Until Hive has looked for the console, only the kubeconfig has it.
    const urls = ["https://example.com/veryfakeapi", `https://api.${cluster}.example.com:6443`];
    const { apiUrl, version } = await driver.observe(refOf(spec));
    expect([urls.includes(apiUrl ?? ""), version]).toEqual([true, "4.20.1"]);
    expect(await driver.credentials(refOf(spec))).toMatchObject({
      ...{ username: "kubeadmin", password: `password-of-${cluster}` },
      kubeconfig: expect.stringContaining(`token-of-${cluster}`),
    });
    expect(await driver.logs(refOf(spec), budget)).toContain("Install complete!");
    expect(await driver.list()).toMatchObject([{ name: spec.name }]);
    await destroyed(driver, refOf(spec));
    expect((await hub.deployments()).map(({ metadata }) => metadata.name)).not.toContain(cluster);
  });

  test("build a cluster for a claim on an empty pool, which waits meanwhile", async () => {
    const { namespace, driver } = await claims();
    hub.installs = false;
    await hub.pool(namespace, "empty", labels, { size: 0 });
    const spec = specFor();
    await driver.create(spec);
    await expect
      .poll(async () => (await driver.observe(refOf(spec))).message, { timeout })
      .toContain("ClusterPool empty: Pending (NoClusters)");
    await expect.poll(async () => (await ofPool(namespace)).length, { timeout }).toBe(1);
    expect(await driver.observe(refOf(spec))).toMatchObject({ phase: "creating" });
    hub.installs = true;
    await reaches(driver, refOf(spec), "ready");
    await destroyed(driver, refOf(spec));
  });

  test("wake a sleeping cluster for its claim, and put it to sleep and wake it again", async () => {
    const { namespace, driver } = await claims();
    await hub.pool(namespace, "asleep", labels, { size: 1, runningCount: 0 });
    await expect
      .poll(() => hub.stock(namespace, "asleep"), { timeout })
      .toMatchObject({ standby: 1, ready: 0 });
    const spec = specFor();
    await driver.create(spec);
    await reaches(driver, refOf(spec), "ready");
    await done(() => driver.hibernate(refOf(spec)));
    await done(() => driver.hibernate(refOf(spec)));
    await reaches(driver, refOf(spec), "hibernated");
    await done(() => driver.resume(refOf(spec)));
    await reaches(driver, refOf(spec), "ready");
    await destroyed(driver, refOf(spec));
  });

  test("give one cluster to one of two claims, and the other claim the next one", async () => {
    const { namespace, driver } = await claims();
    await hub.pool(namespace, "one", labels, { size: 1, runningCount: 1, maxSize: 1 });
    await expect.poll(() => hub.stock(namespace, "one"), { timeout }).toMatchObject({ ready: 1 });
    const specs = [specFor(), specFor()];
    await Promise.all(specs.map((spec) => driver.create(spec)));
    const phases = async () => {
      const seen = await Promise.all(specs.map((spec) => driver.observe(refOf(spec))));
      return seen.map(({ phase }) => phase);
    };
    await expect
      .poll(async () => (await phases()).sort(), { timeout })
      .toEqual([...["creating", "ready"]]);
    expect(await ofPool(namespace)).toHaveLength(1);
    const isFirst = (await phases())[0] === "ready";
    const [winner, loser] = isFirst ? specs : specs.toReversed();
    if (winner === undefined || loser === undefined) throw new Error("There are two");
    // Hive says so after it has looked at the claim.
    await expect
      .poll(async () => (await driver.observe(refOf(loser))).message, { timeout })
      .toContain("NoClusters");
    await destroyed(driver, refOf(winner));
    await reaches(driver, refOf(loser), "ready");
    expect(await ofPool(namespace)).toHaveLength(1);
    await destroyed(driver, refOf(loser));
  });

  test("end a claim that others delete, and destroy its cluster before it is gone", async () => {
    const { namespace, driver } = await claims();
    await hub.pool(namespace, "p", labels, { size: 1, runningCount: 1, maxSize: 1 });
    const spec = specFor();
    await driver.create(spec);
    await reaches(driver, refOf(spec), "ready");
    const claim = await claimOf(namespace, spec.name);
    const cluster = claim?.spec?.namespace ?? "";
    hub.deprovisions = false;
    if (claim !== undefined) await hub.api.remove(claimKind, claim);
    await expect
      .poll(async () => (await driver.observe(refOf(spec))).blocking, { timeout })
      .toContain(`ClusterDeprovision ${cluster} has not completed`);
    // Even if somebody takes its finalizer away.
    if (claim !== undefined) await hub.dropFinalizers(claimKind, claim);
    await expect.poll(() => claimOf(namespace, spec.name), { timeout }).toBeUndefined();
    expect(await driver.observe(refOf(spec))).toMatchObject({ phase: "destroying" });
    hub.deprovisions = true;
    await reaches(driver, refOf(spec), "absent");
    expect((await ofPool(namespace)).map(({ metadata }) => metadata.name)).not.toContain(cluster);
  });

  test("leave a claim behind whose cluster others delete, and the claim has failed", async () => {
    const { namespace, driver } = await claims();
    await hub.pool(namespace, "p", labels, { size: 1, runningCount: 1 });
    const spec = specFor();
    await driver.create(spec);
    await reaches(driver, refOf(spec), "ready");
    const name = (await claimOf(namespace, spec.name))?.spec?.namespace ?? "";
    const found = await hub.api.find(deploymentKind, name, { namespace: name });
    if (found !== undefined) await hub.api.remove(deploymentKind, found);
    await reaches(driver, refOf(spec), "failed");
    await expect
      .poll(() => hub.api.find(deploymentKind, name, { namespace: name }), { timeout })
      .toBeUndefined();
    expect(await driver.observe(refOf(spec))).toMatchObject({ phase: "failed" });
    await destroyed(driver, refOf(spec));
  });

  test("let a claim move to another pool that has a cluster", async () => {
    const { namespace, driver } = await claims();
    await hub.pool(namespace, "full", labels, { size: 0, maxSize: 0 });
    const spec = specFor();
    await driver.create(spec);
    await expect
      .poll(async () => (await driver.observe(refOf(spec))).message, { timeout })
      .toContain("ClusterPool full");
    await hub.pool(namespace, "other", labels, { size: 1, runningCount: 1 });
    await expect
      .poll(() => driver.create(spec).then(() => driver.observe(refOf(spec)), String), { timeout })
      .toMatchObject({ phase: "ready" });
    expect((await claimOf(namespace, spec.name))?.spec?.clusterPoolName).toBe("other");
    await destroyed(driver, refOf(spec));
  });

  test("install single ClusterDeployments, which sleep, wake and go; and give up one that fails", async () => {
    const namespace = await hub.cluster.namespace();
    const { kubeconfig } = await hubAccount(hub.cluster, "hive-deployments", namespace);
    const { how } = await exampleTemplate("installed");
    const objects = ("objects" in how ? how.objects : []).map((each) =>
      each["kind"] === "ClusterDeployment"
        ? { ...each, metadata: { ...(each["metadata"] as object), annotations: fakeCluster } }
        : each,
    );
    const more = { broker: namespace, objects };
    const driver = await exampleDriver("installed", () => ApiServer.connect({ kubeconfig }), more);
    const [spec, doomed] = [specFor(), specFor()];
    hub.failing.add(doomed.name);
    await driver.create(doomed);
    await driver.create(spec);
    await reaches(driver, refOf(spec), "ready");
    expect(await driver.credentials(refOf(spec))).toMatchObject({
      ...{ username: "kubeadmin", password: `password-of-${spec.name}` },
      kubeconfig: expect.stringContaining(`token-of-${spec.name}`),
    });
    await done(() => driver.hibernate(refOf(spec)));
    await reaches(driver, refOf(spec), "hibernated");
    await done(() => driver.resume(refOf(spec)));
    await reaches(driver, refOf(spec), "ready");
    await destroyed(driver, refOf(spec));
    // Hive waits for a minute before it gives up.
    await reaches(driver, refOf(doomed), "failed");
    expect((await driver.observe(refOf(doomed))).message).toMatch(
      /^ProvisionStopped \(InstallAttemptsLimitReached\): /,
    );
    expect(await driver.logs(refOf(doomed), budget)).toContain("msg=no quota");
    await destroyed(driver, refOf(doomed));
    expect(await driver.list()).toEqual([]);
  });
});
