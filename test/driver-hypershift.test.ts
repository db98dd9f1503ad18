/** HyperShift behind the driver: its definitions on a real API server, its operator played by the test. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { destroyed, reached, refOf, specFor, testDriver } from "../src/drivers/driver.suite.ts";
import { Hopeless } from "../src/drivers/driver.ts";
import { configMapKind, namespaceKind, secretKind } from "../src/drivers/hub/kind.ts";
import {
  controlPlaneNamespace,
  type HostedCluster,
  hostedClusterKind,
  type NodePool,
  nodePoolKind,
} from "../src/drivers/hypershift/objects.ts";
import { exampleDriver } from "./example-hub.ts";
import { noControllers } from "./kube-binaries.ts";
import { hostedClusterSpec } from "./kube-kinds.ts";
import { ScriptedHyperShift } from "./scripted-hypershift.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
/** For a loaded machine. */
const patient = { timeout: 20_000 };

async function hosted(controlPlanes = true) {
  const namespace = await cluster.namespace();
  const operator = new ScriptedHyperShift(cluster, namespace);
  operator.controlPlanes = controlPlanes;
  const more = { namespace, broker: namespace };
  const driver = await exampleDriver("hosted", () => cluster.admin(), more);
  const within = { namespace };
  return {
    ...{ driver, operator, namespace },
    occupy: async (name: string) => {
      await operator.make(hostedClusterKind, name, { spec: hostedClusterSpec }, within);
    },
    exists: async (name: string) =>
      (await operator.api.find(hostedClusterKind, name, within)) !== undefined,
    hosted: (name: string) => operator.api.find<HostedCluster>(hostedClusterKind, name, within),
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
}

describe.skipIf(noControllers)("on a hub with HyperShift", () => {
  // Namespaces go away slowly, so only one test has those of control planes.
  describe("as the suite has it", () => testDriver("hypershift", () => hosted(false)));

  describe("a hosted cluster", () => {
    afterAll(() => supports('{"versions":[]}'));
    let world: Awaited<ReturnType<typeof hosted>>;
    beforeEach(async () => {
      world = await hosted(false);
    });
    afterEach(() => world[Symbol.asyncDispose]());

    test("has a known infra id, tags, and the clean-up of its cloud from the beginning", async () => {
      const spec = specFor({ tags: { "berth-pool": "hosted" } });
      await world.driver.create(spec);
      const found = await world.hosted(spec.name);
      expect(found).toMatchObject({
        metadata: {
          labels: { "berth/name": spec.name, "berth-pool": "hosted" },
          annotations: { "hypershift.openshift.io/cleanup-cloud-resources": "true" },
        },
        spec: {
          infraID: spec.name,
          release: { image: "quay.io/openshift-release-dev/ocp-release:4.20.1-multi" },
          platform: {
            aws: {
              resourceTags: expect.arrayContaining([
                { key: "berth-instance", value: spec.instance },
                { key: "berth-pool", value: "hosted" },
                { key: "expirationDate", value: expect.stringMatching(/^\d{4}-/) },
              ]),
            },
          },
        },
      });
      const pool = await world.operator.api.find<NodePool>(nodePoolKind, `${spec.name}-workers`, {
        namespace: world.namespace,
      });
      // A number stays a number.
      expect(pool).toMatchObject({ spec: { clusterName: spec.name, replicas: 2 } });
    });

    test("is ready only with its nodes, and has the access of its Secrets", async () => {
      world.operator.nodes = false;
      const spec = specFor();
      await world.driver.create(spec);
      await expect
        .poll(async () => (await world.driver.observe(refOf(spec))).message, { timeout: 20_000 })
        .toBe("0 of 1 NodePools are ready; Ready (Scripted): no machines");
      await expect
        .poll(async () => (await world.driver.observe(refOf(spec))).progress ?? 0, patient)
        .toBeGreaterThan(0.8);
      expect(await world.driver.observe(refOf(spec))).toMatchObject({ phase: "creating" });
      world.operator.nodes = true;
      await reached(world.driver, refOf(spec), "ready");
      expect(await world.driver.observe(refOf(spec))).toEqual({
        ...{ phase: "ready", apiUrl: "https://api.example.com:443" },
      });
      expect(await world.driver.credentials(refOf(spec))).toEqual({
        ...{ kubeconfig: `# of ${spec.name}`, username: "kubeadmin" },
        password: `pass-${spec.name}`,
      });
    });

    test("that is not available for a moment has not failed", async () => {
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      world.operator.flaps = true;
      const seen = new Set<string>();
      const look = async () => {
        seen.add((await world.driver.observe(refOf(spec))).phase);
        return [...seen].sort().join();
      };
      await expect.poll(look, { interval: 10, ...patient }).toBe("creating,ready");
      world.operator.flaps = false;
      await reached(world.driver, refOf(spec), "ready");
      expect([...seen].sort()).toEqual(["creating", "ready"]);
    });

    test("of a version that the hub cannot make is refused, with the nearest, and leaves nothing", async () => {
      await supports('{"versions":["4.20","4.19","4.18"]}');
      const future = specFor({ parameters: { version: "4.22.3" } });
      await expect(world.driver.create(future)).rejects.toThrow(
        new Hopeless(
          "Cannot create a cluster of OpenShift 4.22.3: the hub makes OpenShift 4.18, 4.19, 4.20; " +
            "the nearest is 4.20",
        ),
      );
      expect(await world.driver.list()).toEqual([]);
      await world.driver.create(specFor({ parameters: { version: "4.18.40" } }));
      // A hub that says nothing useful is not asked again and again.
      await supports("not JSON");
      await world.driver.create(future);
    });

    test("that the operator calls invalid is given up after a while, not at once", async () => {
      const since = (ms: number) => new Date(Date.now() - ms).toISOString();
      world.operator.invalid = { type: "ValidReleaseImage", since: since(60_000) };
      const spec = specFor();
      await world.driver.create(spec);
      const type = "ValidReleaseImage";
      await expect
        .poll(
          async () => (await world.hosted(spec.name))?.status?.conditions?.map((c) => c.type),
          patient,
        )
        .toContain(type);
      expect(await world.driver.observe(refOf(spec))).toMatchObject({ phase: "creating" });
      world.operator.invalid = { type, since: since(6 * 60_000) };
      await reached(world.driver, refOf(spec), "failed");
      expect(await world.driver.observe(refOf(spec))).toEqual({
        ...{ phase: "failed", message: "ValidReleaseImage (Scripted): no such image" },
      });
    });

    test("says what keeps it while it is destroyed, and its Secrets go last", async () => {
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      world.operator.cleansUp = false;
      // Somebody took the annotation away.
      const found = await world.hosted(spec.name);
      const annotations = { "hypershift.openshift.io/cleanup-cloud-resources": null };
      if (found !== undefined) {
        await world.operator.change(hostedClusterKind, found, { metadata: { annotations } });
      }
      await world.driver.destroy(refOf(spec));
      await expect
        .poll(async () => (await world.driver.observe(refOf(spec))).blocking, { timeout: 20_000 })
        .toEqual([
          `HostedCluster ${spec.name} waits for hypershift.openshift.io/finalizer`,
          "CloudResourcesDestroyed (Scripted): 2 load balancers",
        ]);
      const within = { namespace: world.namespace };
      const secret = () => world.operator.api.find(secretKind, `${spec.name}-pull-secret`, within);
      expect(await secret()).toBeDefined();
      world.operator.cleansUp = true;
      await destroyed(world.driver, refOf(spec));
      expect(await secret()).toBeUndefined();
      expect(world.operator.leaked).toEqual([]);
    });

    test("that lost its object, but not its control plane, is not gone", async () => {
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      const control = controlPlaneNamespace(world.namespace, spec.name);
      const running = await world.operator.make(namespaceKind, control, {});
      await world.operator[Symbol.asyncDispose]();
      const found = await world.hosted(spec.name);
      if (found !== undefined) {
        await world.operator.dropFinalizers(hostedClusterKind, found);
        await world.operator.api.remove(hostedClusterKind, found);
      }
      await expect.poll(() => world.exists(spec.name), patient).toBe(false);
      await world.driver.destroy(refOf(spec));
      expect(await world.driver.observe(refOf(spec))).toMatchObject({
        phase: "destroying",
        blocking: [`Namespace ${control} of its control plane is still there`],
      });
      await world.operator.api.remove(namespaceKind, running);
      await expect
        .poll(() => world.operator.api.find(namespaceKind, control), { timeout: 30_000 })
        .toBeUndefined();
      // What had a handle was complete once, so it is not made again.
      expect(await world.driver.observe({ ...refOf(spec), handle: {} })).toMatchObject({
        phase: "failed",
      });
      await world.driver.destroy(refOf(spec));
    });
  });
});

/** All tests of this file share the hub's ConfigMap; they run one after the other. */
async function supports(versions: string): Promise<void> {
  const api = await cluster.admin();
  const data = { "supported-versions": versions };
  await api
    .call({
      method: "POST",
      path: ["api", "v1", "namespaces"],
      body: { metadata: { name: "hypershift" } },
    })
    .catch(() => {});
  const path = ["api", "v1", "namespaces", "hypershift", configMapKind.plural];
  const body = { metadata: { name: "supported-versions" }, data };
  await api.call({ method: "POST", path, body }).catch(() => {});
  await api.call({ method: "PATCH", path: [...path, "supported-versions"], body: { data } });
}
