import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { acquireSlot } from "../src/slots/acquire.ts";
import { renewSlot } from "../src/slots/held-slot.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

const shiftClock = fileURLToPath(new URL("shift-clock.ts", import.meta.url));
const clockOff = (hours: number) => ({
  NODE_OPTIONS: `--import=${shiftClock}`,
  TEST_CLOCK_OFF_HOURS: String(hours),
});

const cluster = sharedCluster();

describe.skipIf(noKube)("berth slots", { timeout: patienceMs }, () => {
  test("a holder without contact stops its command before another client can get the slot", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    const KUBECONFIG = await cluster.configVia(proxy.url, world.jobConfig);
    const script = "trap 'echo stopped; exit' TERM; echo begun; while :; do sleep 0.1; done";
    const args = ["run", "--lease-duration", "9s", "--grace", "3s", "--", "bash", "-c", script];
    const holder = world.slots(args, { KUBECONFIG });
    await holder.says(/begun/);
    proxy.before = () => new Promise(() => {}); // From now on nothing gets through.
    proxy.cut();
    const next = world.slots(["run", "--", "true"], { GITHUB_RUN_ID: "2" });
    const [first] = await Promise.race([holder.says(/stopped/), next.says(/Acquired/)]);
    expect(first).toBe("stopped");
    expect(await holder.ended).toBe(76);
    expect(holder.stderr).toMatch(/SLOT LOST\. .*no heartbeat succeeded/);
    expect(await next.ended).toBe(0);
  });

  test("a closed watch is opened again, and no client misses its turn", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    await world.script(0, "pr9:1");
    const KUBECONFIG = await cluster.configVia(proxy.url, world.jobConfig);
    const waiter = world.slots(["acquire"], { KUBECONFIG });
    await waiter.says(/position 1/);
    // While nobody looks, the slot comes free: the news is lost, and must be found.
    const held = Promise.withResolvers<void>();
    proxy.before = () => held.promise;
    proxy.cut();
    world.kubectl("delete", "lease", "berth-slot-0");
    held.resolve();
    expect(await waiter.ended).toBe(0);
    expect(await world.holders()).toEqual(["pr1:1"]);
  });

  test("a holder tries again when another writer is faster", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    let written = 0;
    proxy.before = async ({ method, path }) => {
      const lease = method === "PUT" && /slot-0$/.test(path) ? await world.slot(0) : undefined;
      if (lease === undefined || written % 4 === 3) return void written++;
      written += 1;
      const { metadata } = lease;
      const labels = { ...metadata.labels, note: String(written) };
      await world.store.replace({ ...lease, metadata: { ...metadata, labels } });
    };
    const store = await cluster.store(
      world.set.namespace,
      await cluster.configVia(proxy.url, world.jobConfig),
    );
    const { signal } = new AbortController();
    const ask = {
      set: world.set,
      identity: "pr1:1",
      durationSeconds: 60,
      timeoutMs: 60_000,
      signal,
    };
    const held = await acquireSlot(store, ask);
    await renewSlot(store, held);
    expect(written).toBeGreaterThan(6);
    expect(await world.holders()).toEqual(["pr1:1"]);
  });

  test.each([-2, 2])(
    "a clock that is %d hours off neither ends nor prolongs a slot",
    async (hours) => {
      await using world = await SlotsWorld.make(cluster, 1);
      const args = ["run", "--lease-duration", "3s", "--", "sh", "-c", "read -r line"];
      const odd = world.slots(args, clockOff(hours));
      await odd.says(/Acquired/);
      const renewMs = Date.parse((await world.slot(0))?.spec?.renewTime ?? "");
      expect(Math.abs(renewMs - Date.now())).toBeLessThan(60_000); // In the server's time, not in its own.
      const waiter = await world.done(["acquire", "--timeout", "5s"], { GITHUB_RUN_ID: "2" });
      expect(waiter.code).toBe(75);
      odd.signal("SIGKILL");
      await odd.ended;
      const again = await world.done(["acquire"], { GITHUB_RUN_ID: "3", ...clockOff(-hours) });
      expect(again.code).toBe(0);
    },
  );

  test("the error of an account without a right names the right", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const { code, stderr } = await world.done(["acquire"], { SLOT_NAMESPACE: "default" });
    expect(code).toBe(77);
    expect(stderr).toMatch(/cannot list resource "leases".*in the namespace "default"/);
    expect(stderr).toContain("Give this account the Role that berth slots manifests prints");
  });

  test("a missing namespace is reported", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const env = { KUBECONFIG: cluster.adminConfig, SLOT_NAMESPACE: "nowhere" };
    const { code, stderr } = await world.done(["acquire"], env);
    expect(code).toBe(66);
    expect(stderr).toContain('Cannot use the Kubernetes API: namespaces "nowhere" not found');
    expect(stderr).toContain("Check --namespace");
  });

  test("an unreachable cluster is reported", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const gone = await KubeProxy.start(cluster);
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    const KUBECONFIG = await cluster.configVia(url, world.jobConfig);
    const { code, stderr } = await world.done(["status"], { KUBECONFIG });
    expect(code).toBe(69);
    expect(stderr).toContain(`Cannot reach the server at ${url}: connection refused`);
    expect(stderr).toContain("Check the kubeconfig and its context");
  });
});
