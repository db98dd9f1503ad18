/** Cluster API behind the driver: its definitions on a real API server, its controllers played by the test. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Cluster } from "../src/drivers/cluster-api/objects.ts";
import { destroyed, reached, refOf, specFor, testDriver } from "../src/drivers/driver.suite.ts";
import { Hopeless } from "../src/drivers/driver.ts";
import { exampleDriver } from "./example-hub.ts";
import { noControllers } from "./kube-binaries.ts";
import { finalizer, kinds, ScriptedClusterApi } from "./scripted-cluster-api.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
/** For a loaded machine. */
const patient = { timeout: 20_000 };

async function capi() {
  const namespace = await cluster.namespace();
  const controllers = new ScriptedClusterApi(cluster, namespace);
  const more = { namespace, broker: namespace };
  const driver = await exampleDriver("capi", () => cluster.admin(), more);
  const within = { namespace };
  return {
    ...{ driver, controllers, namespace },
    occupy: async (name: string) => {
      const spec = { topology: { classRef: { name: "theirs" }, version: "v1.35.0" } };
      await controllers.make(kinds.cluster, name, { spec }, within);
    },
    exists: async (name: string) =>
      (await controllers.api.find(kinds.cluster, name, within)) !== undefined,
    cluster: (name: string) => controllers.api.find<Cluster>(kinds.cluster, name, within),
    [Symbol.asyncDispose]: () => controllers[Symbol.asyncDispose](),
  };
}

describe.skipIf(noControllers)("on a hub with Cluster API", () => {
  describe("as the suite has it", () => testDriver("cluster-api", capi));

  describe("a cluster with a topology", () => {
    let world: Awaited<ReturnType<typeof capi>>;
    beforeEach(async () => {
      world = await capi();
    });
    afterEach(() => world[Symbol.asyncDispose]());

    test("is made from its class, and is ready with control plane and workers", async () => {
      world.controllers.workers = false;
      const spec = specFor({ parameters: { version: "1.34.2" } });
      await world.driver.create(spec);
      expect(await world.cluster(spec.name)).toMatchObject({
        spec: {
          topology: {
            ...{ classRef: { name: "ci" }, version: "v1.34.2" },
            workers: { machineDeployments: [{ class: "default-worker", replicas: 2 }] },
          },
        },
      });
      await expect
        .poll(() => world.driver.observe(refOf(spec)), { timeout: 20_000 })
        .toMatchObject({
          phase: "creating",
          message: `MachineDeployment ${spec.name}-workers has 0 of 2 nodes ready`,
          progress: 0.8,
        });
      world.controllers.workers = true;
      await reached(world.driver, refOf(spec), "ready");
      expect(await world.driver.observe(refOf(spec))).toEqual({
        ...{ phase: "ready", version: "v1.34.2" },
      });
      expect(await world.driver.credentials(refOf(spec))).toEqual({
        kubeconfig: `# of ${spec.name}`,
      });
    });

    test("that the hub's definition refuses is hopeless at once", async () => {
      const spec = specFor({ parameters: { workers: "many" } });
      await expect(world.driver.create(spec)).rejects.toThrow(Hopeless);
      const wild = specFor({ parameters: { version: "1.35\nclassRef: {}" } });
      await expect(world.driver.create(wild)).rejects.toThrow(
        "the parameter version cannot be used: its value has characters that are not allowed",
      );
      expect(await world.driver.list()).toEqual([]);
    });

    test("waits for its machines while it is destroyed, also without its object", async () => {
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      world.controllers.removesMachines = false;
      await world.driver.destroy(refOf(spec));
      expect(await world.driver.observe(refOf(spec))).toMatchObject({
        phase: "destroying",
        blocking: [
          `Cluster ${spec.name} waits for ${finalizer}`,
          `Machine ${spec.name}-0 is being deleted`,
        ],
      });
      const found = await world.cluster(spec.name);
      if (found !== undefined) await world.controllers.dropFinalizers(kinds.cluster, found);
      await expect.poll(() => world.exists(spec.name), patient).toBe(false);
      expect(await world.driver.observe(refOf(spec))).toMatchObject({
        ...{ phase: "destroying", blocking: [`Machine ${spec.name}-0 is still there`] },
      });
      const within = { namespace: world.namespace };
      const machine = await world.controllers.api.find(kinds.machine, `${spec.name}-0`, within);
      if (machine !== undefined) await world.controllers.api.remove(kinds.machine, machine);
      await destroyed(world.driver, refOf(spec));
    });
  });
});
