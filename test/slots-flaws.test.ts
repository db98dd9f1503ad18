/** The twelve flaws of the scripts that Berth takes over from: each is a promise here. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { aNode, aPod, hostedCluster, machineAutoscaler, OwnNodes } from "./kube-kinds.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

const shiftClock = fileURLToPath(new URL("shift-clock.ts", import.meta.url));
const atHour = (hours: number) => ({
  NODE_OPTIONS: `--import=${shiftClock}`,
  TEST_CLOCK_OFF_HOURS: String(hours),
});
const cluster = sharedCluster();

/** Resolves when the proxy has let somebody be faster between a look and the call that follows it. */
function meanwhile(proxy: KubeProxy, method: string, act: () => Promise<unknown>): void {
  let first = true;
  proxy.before = async (passing) => {
    if (passing.method !== method || !first) return;
    first = false;
    await act();
  };
}

describe.skipIf(noKube)("berth slots", { timeout: patienceMs }, () => {
  describe("1: a missing renewTime", () => {
    test.each([-12, -5, 3, 11])(
      "ends no slot, for a cleaner whose clock is %d hours off",
      async (off) => {
        await using world = await SlotsWorld.make(cluster);
        await world.script(0, "pr9:1");
        const env = { ...atHour(off), KUBECONFIG: world.cleanerConfig };
        const cleanup = await world.done(["cleanup"], env);
        expect(cleanup.stderr).toBe("There is nothing to do\n");
        expect(await world.holders()).toEqual(["pr9:1"]);
      },
    );
  });

  test("2: a second acquire of the same run keeps the slot", async () => {
    await using world = await SlotsWorld.make(cluster);
    expect((await world.done(["acquire"])).stdout).toBe("0\n");
    const before = await world.slot(0);
    expect((await world.done(["acquire"])).stdout).toBe("0\n");
    const after = await world.slot(0);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.spec?.acquireTime).toBe(before?.spec?.acquireTime);
    expect(await world.holders()).toEqual(["pr1:1"]);
  });

  test("2: a signal during a second acquire does not release the slot of the run", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    await world.done(["acquire"]);
    const KUBECONFIG = await cluster.configVia(proxy.url, world.jobConfig);
    const arrived = Promise.withResolvers<void>();
    meanwhile(proxy, "PUT", async () => {
      arrived.resolve();
      await again.ended;
    });
    const again = world.slots(["acquire"], { KUBECONFIG });
    await arrived.promise;
    again.signal("SIGINT");
    again.signal("SIGINT");
    expect(await again.ended).toBe(130);
    expect(await world.holders()).toEqual(["pr1:1"]);
  });

  test("3: cleanup --destroy takes no slot, and a release after a loss does not end another job's lease", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await hostedCluster(cluster, world.set.namespace, "berth-pr1");
    const args = [
      "cleanup",
      "--orphan-grace",
      "0",
      "--destroy",
      "echo $BERTH_CLUSTER $CLUSTER_SUFFIX",
    ];
    const cleanup = await world.done(args, { KUBECONFIG: world.cleanerConfig });
    expect(cleanup.stdout).toContain("berth-pr1 pr1\n");
    expect(await world.holders()).toEqual([]);
    await world.script(0, "pr2:7");
    expect((await world.done(["release", "0"])).code).toBe(77);
    expect((await world.done(["release"])).stderr).toBe("pr1:1 holds no slot\n");
    expect(await world.holders()).toEqual(["pr2:7"]);
  });

  test("4: a cleaner does not delete a slot that changed since it was read", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    const silent = await world.script(0, "pr9:1", { leaseDurationSeconds: 1 });
    meanwhile(proxy, "DELETE", async () => {
      await world.store.replace({ ...silent, spec: { ...silent.spec, holderIdentity: "pr5:5" } });
    });
    const KUBECONFIG = await cluster.configVia(proxy.url, world.cleanerConfig);
    const said: string[] = [];
    while (!said.join("").includes("Kept")) {
      said.push((await world.done(["cleanup"], { KUBECONFIG })).stdout);
    }
    expect(said.join("")).toContain("Kept expired slot berth-slot-0 of pr9:1: it has changed");
    expect(await world.holders()).toEqual(["pr5:5"]);
  });

  test("4: a release does not delete a slot that has a new holder", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    await world.done(["acquire"]);
    meanwhile(proxy, "DELETE", async () => {
      await world.store.remove((await world.slot(0)) ?? { metadata: { name: "" } });
      await world.script(0, "pr1:2");
    });
    const KUBECONFIG = await cluster.configVia(proxy.url, world.jobConfig);
    expect((await world.done(["release"], { KUBECONFIG })).stderr).toBe(
      "Slot 0 had already ended\n",
    );
    expect(await world.holders()).toEqual(["pr1:2"]);
  });

  test("5: two runs on one pull request are two holders", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await world.done(["acquire"]);
    const second = await world.done(["acquire", "--timeout", "1s"], { GITHUB_RUN_ID: "2" });
    expect(second.code).toBe(75);
    expect(await world.holders()).toEqual(["pr1:1"]);
    expect((await world.done(["release"], { GITHUB_RUN_ID: "2" })).stderr).toContain(
      "holds no slot",
    );
    expect(await world.holders()).toEqual(["pr1:1"]);
  });

  test("6: a holder that slept for longer than its lease stops its command", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const args = ["run", "--lease-duration", "3s", "--grace", "1s", "--", "sleep", "600"];
    const holder = world.slots(args);
    await holder.says(/Acquired/);
    holder.signal("SIGSTOP");
    const next = world.slots(["run", "--", "sh", "-c", "read -r line"], { GITHUB_RUN_ID: "2" });
    await next.says(/Acquired slot 0 for pr1:2/);
    holder.signal("SIGCONT");
    expect(await holder.ended).toBe(76);
    expect(holder.stderr).toContain("SLOT LOST");
    expect(await world.holders()).toEqual(["pr1:2"]);
    next.type("\n");
    expect(await next.ended).toBe(0);
  });

  test("7: waiting clients are served in order of arrival, and see their position", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await world.done(["acquire"], { GITHUB_RUN_ID: "first" });
    const order: string[] = [];
    const waiters = [];
    for (const run of ["a", "b", "c"]) {
      const script = 'echo "$BERTH_SLOT_HOLDER"';
      const waiter = world.slots(["run", "--", "sh", "-c", script], { GITHUB_RUN_ID: run });
      await waiter.says(new RegExp(`position ${waiters.length + 1} · The only slot is held`));
      waiters.push(waiter.ended.then(() => order.push(waiter.stdout.trim())));
    }
    await world.done(["release"], { GITHUB_RUN_ID: "first" });
    await Promise.all(waiters);
    expect(order).toEqual(["pr1:a", "pr1:b", "pr1:c"]);
    expect(await world.tickets()).toEqual([]);
  });

  test("7: a client that died as the first in the queue is skipped", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await world.done(["acquire"], { GITHUB_RUN_ID: "first" });
    const dead = world.slots(["acquire"], { GITHUB_RUN_ID: "dead" });
    await dead.says(/position 1/);
    const living = world.slots(["acquire", "--turn", "1s"], { GITHUB_RUN_ID: "living" });
    await living.says(/position 2/);
    dead.signal("SIGKILL");
    await dead.ended;
    await world.done(["release"], { GITHUB_RUN_ID: "first" });
    expect(await living.ended).toBe(0);
    expect(await world.holders()).toEqual(["pr1:living"]);
    expect(await world.tickets()).toEqual([]);
  });

  test("8: a quota that contradicts the number of slots is refused", async () => {
    await using world = await SlotsWorld.make(cluster);
    const refused = await world.done(["manifests", "--slots", "6", "--quota", "4"]);
    expect(refused.code).toBe(78);
    expect(refused.stderr).toContain("a quota of 4 clusters contradicts 6 slots");
    const { stdout } = await world.done(["manifests", "--slots", "6", "-o", "json"]);
    const { items } = JSON.parse(stdout);
    expect(items.at(-1).spec.hard).toEqual({ "count/hostedclusters.hypershift.openshift.io": "8" });
    const check = await world.done(["check-capacity"], { MAX_SLOTS: "6" });
    expect(check.stderr).toContain("limit allows 4 clusters, but there are 6 slots");
  });

  test("9: capacity is counted as the scheduler does, including pending pods", async () => {
    await using world = await SlotsWorld.make(cluster, 6);
    await using _ = await OwnNodes.reserve(cluster);
    const { namespace } = world.set;
    const check = (...args: string[]) => world.done(["check-capacity", "-o", "json", ...args]);
    await aNode(cluster, "worker-1", { cpu: "8", memory: "32Gi" });
    await aNode(cluster, "worker-2", { cpu: "8000m", memory: "34359738368" });
    await aNode(
      cluster,
      "master-1",
      { cpu: "64", memory: "1Ti" },
      "node-role.kubernetes.io/master",
    );
    await aPod(cluster, namespace, "on-worker", { cpu: "4", memory: "10G" }, "worker-1");
    await aPod(cluster, namespace, "on-master", { cpu: "60", memory: "1Ti" }, "master-1");
    await aPod(cluster, namespace, "pending", { cpu: "9500m", memory: "100Mi" });
    const before = await check();
    expect(before.code).toBe(75);
    expect(JSON.parse(before.stdout)).toMatchObject({
      enough: false,
      workers: { now: 2, max: 2 },
      allocatable: { cpu: 16, memory: 64 * 2 ** 30 },
      requested: { cpu: 13.5 },
      pendingPods: 1,
      remaining: { cpu: 2.5 },
    });
    expect((await check("--cpu", "2500")).code).toBe(0);
    const doubtful = await check("--overcommit", "1.5");
    expect(doubtful.code).toBe(75);
    expect(doubtful.stderr).toContain("an overcommit of 1.5 counts as 1");
    await machineAutoscaler(cluster, namespace, "scaler", 3);
    const scaled = await check();
    expect(scaled.code).toBe(0);
    expect(JSON.parse(scaled.stdout).remaining.cpu).toBe(10.5);
    for (const name of ["pr2", "pr3"]) {
      await hostedCluster(cluster, namespace, `berth-${name}`);
    }
    expect((await check("--clusters", "2")).code).toBe(75);
    expect((await check("--clusters", "2", "--suffix", "pr3")).code).toBe(0);
    const table = await world.done(["check-capacity"]);
    expect(table.stdout).toMatch(/Workers: 2, and 1 more by autoscaling\nClusters: 2 of 6\n/);
    expect(table.stdout).toMatch(/remaining +10500m +\d+Mi\nneeded +3000m +12000Mi\nAnother/);
  });

  test("10: cleaning up after pr1 never touches pr12", async () => {
    await using world = await SlotsWorld.make(cluster);
    const { namespace } = world.set;
    await world.script(0, "pr12:1");
    for (const name of ["pr1", "pr12"]) {
      await hostedCluster(cluster, namespace, `berth-${name}`);
    }
    const args = ["cleanup", "--orphan-grace", "0", "--delete-clusters"];
    const cleanup = await world.done(args, { KUBECONFIG: world.cleanerConfig });
    expect(cleanup.stdout).toMatch(/^Deleted cluster berth-pr1, which/);
    expect(cleanup.stdout).not.toContain("pr12");
    expect(cleanup.code).toBe(0);
  });

  test("11: finalizers stay, a remaining cluster is a failure, and dry runs change nothing", async () => {
    await using world = await SlotsWorld.make(cluster);
    const { namespace } = world.set;
    const made = await hostedCluster(cluster, namespace, "berth-pr1");
    const env = { KUBECONFIG: world.cleanerConfig };
    const cleanup = (...args: string[]) =>
      world.done(["cleanup", "--orphan-grace", "0", ...args], env);
    const path = [
      "apis",
      "hypershift.openshift.io",
      "v1beta1",
      "namespaces",
      namespace,
      "hostedclusters",
    ];
    const now = () =>
      world.store.api.call<{ metadata: Record<string, unknown> }>({
        path: [...path, "berth-pr1"],
      });
    const young = await world.done(["cleanup"], env);
    expect([young.code, young.stderr]).toEqual([0, "There is nothing to do\n"]);
    expect((await cleanup()).code).toBe(79);
    expect((await cleanup("--dry-run", "--delete-clusters")).stdout).toMatch(/^Would destroy/);
    const failed = await cleanup("--destroy", "echo half done; exit 3");
    expect([failed.code, failed.stderr]).toEqual([
      79,
      "berth: Cannot destroy cluster berth-pr1: the command failed\n",
    ]);
    expect((await now()).metadata["resourceVersion"]).toBe(made?.metadata.resourceVersion);
    expect((await cleanup("--delete-clusters")).code).toBe(0);
    expect((await now()).metadata).toMatchObject({
      uid: made?.metadata.uid,
      deletionTimestamp: expect.any(String),
      finalizers: ["hypershift.openshift.io/finalizer"],
    });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("12: %s ends the wait and deletes the ticket", async (signal, code) => {
    await using world = await SlotsWorld.make(cluster, 1);
    await world.script(0, "pr9:1");
    const waiter = world.slots(["acquire"]);
    await waiter.says(/position 1/);
    waiter.signal(signal);
    expect(await waiter.ended).toBe(code);
    expect(await world.tickets()).toEqual([]);
    expect(await world.holders()).toEqual(["pr9:1"]);
  });

  test.each([
    ["slots.yaml", "-n", "clusters", "--slots", "6"],
    ["mirror.yaml", "-n", "berth", "--for", "mirror"],
    ["admission.yaml", "-n", "berth", "--cluster-namespace", "clusters", "--for", "admission"],
  ])("deploy/kubernetes/%s is what berth slots manifests prints", async (name, ...args) => {
    await using world = await SlotsWorld.make(cluster);
    const file = new URL(`../deploy/kubernetes/${name}`, import.meta.url);
    const { stdout } = await world.done(["manifests", ...args]);
    expect((await readFile(file, "utf8")).replace(/^#.*\n/gm, "")).toBe(stdout);
  });
});
