/** Hive behind the driver: its definitions on a real API server, its controllers played by the test. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type DriverWorld,
  reached,
  refOf,
  specFor,
  testDriver,
} from "../src/drivers/driver.suite.ts";
import { type ClusterRef, Hopeless, type Phase, Retry } from "../src/drivers/driver.ts";
import { HiveClaimDriver } from "../src/drivers/hive/claim-driver.ts";
import {
  type ClusterClaim,
  claimKind,
  deploymentKind,
  deprovisionKind,
} from "../src/drivers/hive/objects.ts";
import { HubApi } from "../src/drivers/hub/hub-api.ts";
import { namespaceKind, secretKind } from "../src/drivers/hub/kind.ts";
import { brokerLabel } from "../src/drivers/hub/ownership.ts";
import { noMask } from "../src/drivers/secret-mask.ts";
import { exampleDriver, exampleTemplate } from "./example-hub.ts";
import { noControllers } from "./kube-binaries.ts";
import { kubeconfigOf, ScriptedHive } from "./scripted-hive.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
/** For a loaded machine. */
const patient = { timeout: 20_000 };
const labels = { product: "ocp", version: "4.20" };

async function claimWorld() {
  const namespace = await cluster.namespace();
  const hive = new ScriptedHive(cluster, namespace);
  const settings = { owner: { broker: namespace }, namespace, pools: labels, hibernates: true };
  const driver = new HiveClaimDriver(new HubApi(() => cluster.admin()), settings, noMask);
  const within = { namespace };
  return {
    ...{ driver, hive, namespace },
    occupy: async (name: string) => {
      await hive.make(claimKind, name, { spec: { clusterPoolName: "none" } }, within);
    },
    exists: async (name: string) => (await hive.api.find(claimKind, name, within)) !== undefined,
    claim: (name: string) => hive.api.find<ClusterClaim>(claimKind, name, within),
    [Symbol.asyncDispose]: () => hive[Symbol.asyncDispose](),
  };
}

/** A pool with enough clusters for every test of the suite. */
async function stockedWorld(): Promise<DriverWorld> {
  const world = await claimWorld();
  await world.hive.pool("big", labels, 2);
  return world;
}

let worlds = 0;

async function deploymentWorld() {
  const broker = `hive-${process.pid}-${++worlds}`;
  const hive = new ScriptedHive(cluster, await cluster.namespace(), `${brokerLabel}=${broker}`);
  const more = { broker, expiryMs: 3_600_000 };
  const driver = await exampleDriver("installed", () => cluster.admin(), more);
  return {
    ...{ driver, hive, broker },
    occupy: async (name: string) => {
      await hive.make(namespaceKind, name, {});
    },
    exists: async (name: string) => (await hive.api.find(namespaceKind, name)) !== undefined,
    [Symbol.asyncDispose]: () => hive[Symbol.asyncDispose](),
  };
}

/** All phases and messages until this one. */
async function waysTo(
  driver: DriverWorld["driver"],
  ref: ClusterRef,
  phase: Phase,
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  await expect
    .poll(
      async () => {
        const { phase: now, message = "", progress = "" } = await driver.observe(ref);
        seen.add(`${now} ${message} ${progress}`.trim());
        return now;
      },
      { timeout: 40_000, interval: 10 },
    )
    .toBe(phase);
  return seen;
}

describe.skipIf(noControllers)("on a hub with Hive", () => {
  describe("as the suite has it", () => testDriver("hive, claims", stockedWorld));
  describe("as the suite has it", () => testDriver("hive, deployments", deploymentWorld));

  describe("a claim", () => {
    let world: Awaited<ReturnType<typeof claimWorld>>;
    beforeEach(async () => {
      world = await claimWorld();
    });
    afterEach(() => world[Symbol.asyncDispose]());

    test("is not believed that its cluster runs: the steps of the resume are seen", async () => {
      await world.hive.pool("p", labels, 1);
      await expect.poll(() => pools(world.hive, world.namespace), patient).toBe("p 1");
      const spec = specFor();
      world.hive.wakes = false;
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "resuming");
      const claim = await world.claim(spec.name);
      expect(claim?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: "ClusterRunning", status: "True" }),
      );
      expect(await world.driver.observe(refOf(spec))).toEqual({
        phase: "resuming",
        message: "WaitingForNodes (step 2 of 4)",
        progress: 0.375,
      });
      world.hive.wakes = true;
      const ways = await waysTo(world.driver, refOf(spec), "ready");
      expect([...ways].join()).toContain("WaitingForClusterOperators (step 4 of 4)");
      expect(await world.driver.credentials(refOf(spec))).toEqual({
        kubeconfig: kubeconfigOf(claim?.spec?.namespace ?? ""),
        ...{ username: "kubeadmin", password: `password-of-${claim?.spec?.namespace}` },
      });
    });

    test("goes where clusters are ready, and counts those who wait there already", async () => {
      world.hive.assigns = false;
      await world.hive.pool("two", labels, 2);
      await world.hive.pool("one", labels, 1);
      await world.hive.pool("other", { ...labels, version: "4.19" }, 3);
      const specs = [specFor(), specFor(), specFor()];
      await expect
        .poll(() => pools(world.hive, world.namespace), patient)
        .toBe("one 1, other 3, two 2");
      for (const spec of specs) await world.driver.create(spec);
      const chosen = await Promise.all(specs.map(({ name }) => world.claim(name)));
      expect(chosen.map((claim) => claim?.spec?.clusterPoolName).sort()).toEqual([
        ...["one", "two", "two"],
      ]);
    });

    test("moves to a pool with a ready cluster while it has none, and never afterwards", async () => {
      await world.hive.pool("empty", labels, 0);
      const spec = specFor();
      await world.driver.create(spec);
      await expect
        .poll(() => world.driver.observe(refOf(spec)), patient)
        .toEqual({ phase: "creating", message: "ClusterPool empty: Pending (NoClusters)" });
      const before = await world.claim(spec.name);
      await world.hive.pool("full", labels, 1);
      await expect.poll(() => pools(world.hive, world.namespace), patient).toContain("full 1");
      await world.driver.create(spec);
      // The name is taken until the old claim is gone.
      await expect
        .poll(() => world.driver.create(spec).then(() => world.claim(spec.name), String), {
          timeout: 10_000,
        })
        .toMatchObject({ spec: { clusterPoolName: "full" } });
      await reached(world.driver, refOf(spec), "ready");
      const after = await world.claim(spec.name);
      expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
      await world.hive.pool("fuller", labels, 2);
      await expect.poll(() => pools(world.hive, world.namespace), patient).toContain("fuller 2");
      await world.driver.create(spec);
      expect((await world.claim(spec.name))?.metadata.uid).toBe(after?.metadata.uid);
    });

    test("has the address of its kubeconfig as long as Hive says none", async () => {
      world.hive.hasConsole = false;
      await world.hive.pool("p", labels, 1);
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      const name = (await world.claim(spec.name))?.spec?.namespace;
      expect(await world.driver.observe(refOf(spec))).toEqual({
        ...{ phase: "ready", apiUrl: `https://${name}:6443` },
      });
    });

    test("for what no pool has is refused at once, with what there is", async () => {
      await world.hive.pool("p", labels, 0);
      const spec = specFor({ parameters: { version: "4.21" } });
      await expect(world.driver.create(spec)).rejects.toThrow(
        new Hopeless(
          `Cannot claim a cluster: no ClusterPool of ${world.namespace} has the labels ` +
            "product=ocp,version=4.21; there are p (product=ocp, version=4.20)",
        ),
      );
      const wide = specFor({ parameters: { version: "4.20,x" } });
      await expect(world.driver.create(wide)).rejects.toThrow(Hopeless);
    });

    test("whose cluster was deleted under its holder has failed", async () => {
      await world.hive.pool("p", labels, 1);
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      const name = (await world.claim(spec.name))?.spec?.namespace ?? "";
      const cluster = await world.hive.deployment(name);
      if (cluster !== undefined) await world.hive.api.remove(deploymentKind, cluster);
      expect(await world.driver.observe(refOf(spec))).toMatchObject({ phase: "failed" });
    });

    test("that is gone does not hide its cluster, which is still there", async () => {
      await world.hive.pool("p", labels, 1);
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      world.hive.deprovisions = false;
      const claim = await world.claim(spec.name);
      await world.driver.destroy(refOf(spec));
      await expect
        .poll(async () => (await world.driver.observe(refOf(spec))).blocking?.join(), patient)
        .toContain("has not completed");
      if (claim !== undefined) await world.hive.dropFinalizers(claimKind, claim);
      await expect.poll(() => world.exists(spec.name), patient).toBe(false);
      expect(await world.driver.observe(refOf(spec))).toMatchObject({
        phase: "destroying",
        blocking: expect.arrayContaining([
          `ClusterDeployment ${claim?.spec?.namespace} waits for hive.openshift.io/deprovision`,
        ]),
      });
      world.hive.deprovisions = true;
      await reached(world.driver, refOf(spec), "absent");
    });
  });

  describe("a deployment", () => {
    let world: Awaited<ReturnType<typeof deploymentWorld>>;
    beforeEach(async () => {
      world = await deploymentWorld();
    });
    afterEach(() => world[Symbol.asyncDispose]());

    test("has its secrets before it is made, and labels of its owner on everything", async () => {
      const spec = specFor({ tags: { "berth-pool": "ocp" } });
      await world.driver.create(spec);
      const within = { namespace: spec.name };
      const found = await world.hive.api.find(deploymentKind, spec.name, within);
      const secret = await world.hive.api.find(secretKind, "install-config", within);
      const [made, secretMade] = [found, secret].map((each) =>
        Number(each?.metadata.resourceVersion),
      );
      expect(secretMade).toBeLessThan(made ?? 0);
      for (const each of [found, secret]) {
        expect(each?.metadata).toMatchObject({
          labels: {
            ...{ "berth/broker": world.broker, "berth/name": spec.name, "berth-pool": "ocp" },
            "app.kubernetes.io/managed-by": "berth",
          },
          annotations: {
            "berth/instance": spec.instance,
            "berth/expires-at": expect.stringMatching(/^\d{4}-.*Z$/),
          },
        });
      }
    });

    test("is finished by a second create if the first one died before it", async () => {
      const spec = specFor();
      const { how } = await exampleTemplate("installed");
      const objects = "objects" in how ? how.objects : [];
      // The last object is the cluster itself; here the hub does not know it.
      const unknown = objects.map((each) => {
        return each["kind"] === "ClusterDeployment" ? { ...each, kind: "NoSuchKind" } : each;
      });
      const more = { broker: world.broker, objects: unknown };
      const dying = await exampleDriver("installed", () => cluster.admin(), more);
      await expect(dying.create(spec)).rejects.toThrow(Retry);
      expect(await world.driver.observe(refOf(spec))).toMatchObject({ phase: "creating" });
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      expect(await world.driver.list()).toHaveLength(1);
    });

    test("whose install has stopped has failed, with Hive's words and its log", async () => {
      world.hive.installFails = "InstallAttemptsLimitReached";
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "failed");
      const { message } = await world.driver.observe(refOf(spec));
      expect(message).toBe("ProvisionStopped (InstallAttemptsLimitReached): attempts exhausted");
      const log = await world.driver.logs(refOf(spec), { bytesMax: 9_000, timeMsMax: 9_000 });
      expect(log).toContain("msg=Creating infrastructure");
      expect(log).toContain("True ProvisionStopped (InstallAttemptsLimitReached)");
    });

    test("keeps its namespace, and so its secrets, until Hive has deprovisioned it", async () => {
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      world.hive.deprovisions = false;
      const { handle: _, ...ref } = { ...refOf(spec), handle: {} };
      await world.driver.destroy(ref);
      const blocked = async () => (await world.driver.observe(ref)).blocking ?? [];
      const job = `ClusterDeprovision ${spec.name} has not completed`;
      await expect.poll(blocked, patient).toContain(job);
      // Even if somebody takes the finalizer away, which Hive's users do.
      const cluster = await world.hive.deployment(spec.name);
      if (cluster !== undefined) await world.hive.dropFinalizers(deploymentKind, cluster);
      await expect.poll(() => world.hive.deployment(spec.name), patient).toBeUndefined();
      await world.driver.destroy(ref);
      expect(await world.driver.observe(ref)).toMatchObject({
        phase: "destroying",
        blocking: [job],
      });
      const within = { namespace: spec.name };
      expect(await world.hive.api.find(secretKind, "pull-secret", within)).toBeDefined();
      const left = await world.hive.api.find(deprovisionKind, spec.name, within);
      if (left !== undefined)
        await world.hive.setStatus(deprovisionKind, left, { completed: true });
      expect(await world.driver.observe(ref)).toMatchObject({ phase: "creating" });
      expect(await world.driver.observe({ ...ref, handle: {} })).toMatchObject({ phase: "failed" });
      await world.driver.destroy(ref);
      await reached(world.driver, ref, "absent");
    });
  });
});

/** `name ready, …`, as Hive has counted them. */
async function pools(hive: ScriptedHive, namespace: string): Promise<string> {
  const kind = {
    ...{ group: "hive.openshift.io", version: "v1", kind: "ClusterPool", plural: "clusterpools" },
    from: "Hive",
  };
  const found = await hive.api.list(kind, { namespace });
  const counts = found.map((each) => {
    const { status } = each as { status?: { ready?: number } };
    return `${each.metadata.name} ${status?.ready ?? "?"}`;
  });
  return counts.sort().join(", ");
}
