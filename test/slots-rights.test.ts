import { describe, expect, test } from "vitest";
import { manifestsOf } from "../src/slots/manifests.ts";
import { finished } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { hostedCluster } from "./kube-kinds.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { rightOf } from "./kube-rights.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { kindIn, SlotsWorld } from "./slots-world.ts";

interface Granted {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly roleRef?: { readonly name: string };
  readonly subjects?: readonly { readonly name: string }[];
}

/** All that the manifests give an account. */
function rightsOf(account: string, world: SlotsWorld): string[] {
  const { set } = world;
  const objects = manifestsOf({ set, kind: kindIn(set.namespace), deleting: 2 }) as Granted[];
  const roles = objects
    .filter(({ subjects }) => subjects?.some(({ name }) => name === account))
    .map(({ roleRef }) => roleRef?.name);
  const rules = objects
    .filter(({ kind, metadata }) => /Role$/.test(kind) && roles.includes(metadata.name))
    .flatMap((role) => role.rules ?? []);
  return rules.flatMap((rule) =>
    rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${verb} ${resource}`)),
  );
}

const sorted = (rights: Iterable<string>) => [...new Set(rights)].sort();

describe.skipIf(noKube)("the shipped roles give", { timeout: patienceMs }, () => {
  const cluster = sharedCluster();
  test("a job the rights that its commands use, and no other", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    const KUBECONFIG = await cluster.configVia(proxy.url, world.jobConfig);
    const as = (run: string) => ({ KUBECONFIG, GITHUB_RUN_ID: run });
    const first = world.slots(["run", "--", "sh", "-c", "read -r line"], as("1"));
    await first.says(/Acquired/);
    const second = world.slots(["acquire"], as("2"));
    await second.says(/position 1/);
    first.type("\n");
    await first.ended;
    await second.ended;
    for (const command of ["renew", "status", "check-capacity", "release"]) {
      expect((await finished(world.slots([command], as("2")))).stderr).not.toContain("forbidden");
    }
    expect(sorted(proxy.seen.map(rightOf))).toEqual(sorted(rightsOf("berth-slots", world)));
  });

  test("a job no right to list clusters in other namespaces, which is an error and not a count of 0", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const elsewhere = ["check-capacity", "--cluster-namespace", "kube-system"];
    const check = await world.done(elsewhere, { KUBECONFIG: world.jobConfig });
    expect(check.code).not.toBe(0);
    expect(check.stderr).toContain("hostedclusters");
  });

  test("the cleaner the rights that it uses, and no other", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    const KUBECONFIG = await cluster.configVia(proxy.url, world.cleanerConfig);
    await hostedCluster(cluster, world.set.namespace, "berth-pr1");
    await world.script(0, "pr9:1", { leaseDurationSeconds: 1 });
    const clean = () =>
      world.done(["cleanup", "--orphan-grace", "0", "--delete-clusters"], { KUBECONFIG });
    while ((await world.holders()).length > 0) expect((await clean()).code).toBe(0);
    expect(sorted(proxy.seen.map(rightOf))).toEqual(sorted(rightsOf("berth-slots-cleanup", world)));
  });

  test("a waiting client five writes, however long it waits", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    await world.done(["acquire"], { GITHUB_RUN_ID: "first" });
    const KUBECONFIG = await cluster.configVia(proxy.url, world.jobConfig);
    const waiter = world.slots(["acquire"], { KUBECONFIG, GITHUB_RUN_ID: "second" });
    await waiter.says(/position 1/);
    // Things happen meanwhile, and none of them is a reason to write.
    for (let times = 0; times < 5; times++) await world.done(["renew"], { GITHUB_RUN_ID: "first" });
    await world.done(["release"], { GITHUB_RUN_ID: "first" });
    expect(await waiter.ended).toBe(0);
    const writes = proxy.seen.filter(({ method }) => method !== "GET");
    expect(writes.map(({ method, path }) => `${method} ${path.replace(/^.*leases/, "")}`)).toEqual([
      "POST ",
      "POST ",
      "PUT /berth-slot-fence",
      "PUT /berth-slot-0",
      expect.stringMatching(/^DELETE \/berth-slot-wait-/),
    ]);
  });
});
