/** The operator of cluster templates behind the driver, played by the test with the flaws it has. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applicationKind, instanceKind } from "../src/drivers/caas/objects.ts";
import { destroyed, reached, refOf, specFor, testDriver } from "../src/drivers/driver.suite.ts";
import { configMapKind } from "../src/drivers/hub/kind.ts";
import { hostedClusterKind } from "../src/drivers/hypershift/objects.ts";
import { exampleDriver } from "./example-hub.ts";
import { noControllers } from "./kube-binaries.ts";
import { ScriptedOperator } from "./scripted-caas.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
/** For a loaded machine. */
const patient = { timeout: 20_000 };

async function caas() {
  const [namespace, argo] = [await cluster.namespace(), await cluster.namespace()];
  const operator = new ScriptedOperator(cluster, namespace, argo);
  const more = { namespace, argoNamespace: argo, broker: namespace };
  const driver = await exampleDriver("template", () => cluster.admin(), more);
  const within = { namespace };
  return {
    ...{ driver, operator, namespace, argo },
    occupy: async (name: string) => {
      const spec = { clusterTemplateRef: "theirs" };
      await operator.make(instanceKind, name, { spec }, within);
    },
    exists: async (name: string) =>
      (await operator.api.find(instanceKind, name, within)) !== undefined,
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
}

describe.skipIf(noControllers)("on a hub with cluster templates", () => {
  describe("as the suite has it", () => testDriver("caas", caas));

  describe("an instance", () => {
    let world: Awaited<ReturnType<typeof caas>>;
    beforeEach(async () => {
      world = await caas();
    });
    afterEach(() => world[Symbol.asyncDispose]());

    test("gets the parameters, and its flapping failures are no failures", async () => {
      const spec = specFor({ parameters: { version: "4.19.7" } });
      await world.driver.create(spec);
      const found = await world.operator.api.find(instanceKind, spec.name, {
        namespace: world.namespace,
      });
      expect(found).toMatchObject({
        spec: {
          clusterTemplateRef: "hypershift-aws-cluster",
          parameters: [{ name: "version", value: "4.19.7" }],
        },
      });
      const seen = new Set<string>();
      await expect
        .poll(
          async () => {
            const { phase, message = "" } = await world.driver.observe(refOf(spec));
            seen.add(`${phase} ${message}`);
            return phase;
          },
          { interval: 5, timeout: 20_000 },
        )
        .toBe("ready");
      expect([...seen].filter((text) => text.startsWith("failed"))).toEqual([]);
      expect(await world.driver.credentials(refOf(spec))).toEqual({
        ...{ kubeconfig: `# of ${spec.name}`, username: "kubeadmin" },
        password: `pass-${spec.name}`,
      });
    });

    test("whose install has failed for good is given up, long before its deadline", async () => {
      const lastTransitionTime = new Date(Date.now() - 6 * 60_000).toISOString();
      world.operator.ends = "ClusterInstallFailed";
      world.operator.reason = { reason: "ApplicationDegraded", lastTransitionTime };
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "failed");
      expect(await world.driver.observe(refOf(spec))).toEqual({
        ...{ phase: "failed", message: "ClusterInstallFailed: the operator's words" },
      });
      const gone = specFor();
      world.operator.ends = "Failed";
      await world.driver.create(gone);
      await reached(world.driver, refOf(gone), "failed");
    });

    test("is not gone when the operator has let go of it, but when its cluster is", async () => {
      const spec = specFor();
      await world.driver.create(spec);
      await reached(world.driver, refOf(spec), "ready");
      world.operator.removes = false;
      await world.driver.destroy(refOf(spec));
      await expect.poll(() => world.exists(spec.name), patient).toBe(false);
      const { blocking = [] } = await world.driver.observe(refOf(spec));
      expect(blocking.join("; ")).toMatch(
        new RegExp(
          "^Application .* waits for resources-finalizer.argocd.argoproj.io; " +
            `HostedCluster hc-${spec.name} is still there$`,
        ),
      );
      // It is still listed, so that nobody forgets it.
      expect(await world.driver.list()).toMatchObject([{ name: spec.name }]);
      // Argo CD's Application is forced away; the cluster is not forgotten.
      const within = { namespace: world.argo };
      for (const each of await world.operator.api.list(applicationKind, within)) {
        await world.operator.dropFinalizers(applicationKind, each);
      }
      await expect
        .poll(async () => (await world.driver.observe(refOf(spec))).blocking, patient)
        .toEqual([`HostedCluster hc-${spec.name} is still there`]);
      const hosted = await world.operator.api.find(hostedClusterKind, `hc-${spec.name}`, within);
      if (hosted !== undefined) await world.operator.api.remove(hostedClusterKind, hosted);
      world.operator.removes = true;
      await destroyed(world.driver, refOf(spec));
      const record = await world.operator.api.find(configMapKind, spec.name, {
        namespace: world.namespace,
      });
      expect(record).toBeUndefined();
    });
  });
});
