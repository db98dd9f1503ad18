/** Authors of objects who write on them what is not theirs: notes, finalizers, names that are too long. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pause } from "../src/client/pause.ts";
import { FrontWorld, type Seen } from "./front-world.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";

const timeout = 60_000;
const cluster = sharedCluster();
const notes = ["berth/lease", "berth/resource", "berth/instance", "berth/installation"];

const statusOf = async (world: FrontWorld, name: string) =>
  (await world.object("cti", name))?.status;

const reaches = (world: FrontWorld, name: string, phase: string) =>
  expect.poll(async () => (await statusOf(world, name))?.phase, { timeout }).toBe(phase);

const patch = (world: FrontWorld, name: string, metadata: object) =>
  world.kubectl("patch", "cti", name, "--type=merge", "-p", JSON.stringify({ metadata }));

const created = (world: FrontWorld) =>
  new Set(
    readFileSync(join(world.world, "calls"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("create ")),
  ).size;

describe.skipIf(noControllers)("the author of an object", { timeout: patienceMs }, () => {
  test("gets nothing of another's cluster by its notes, and its object does not wait for that cluster", async () => {
    await using world = await FrontWorld.start(cluster);
    await world.instance("victim");
    await reaches(world, "victim", "Ready");
    const annotations = (await world.object("cti", "victim"))?.metadata.annotations;
    await world.create({
      ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1", kind: "ClusterTemplateInstance" },
      metadata: { name: "thief", annotations, finalizers: ["berth/cluster"] },
      spec: { clusterTemplateRef: world.template },
    });
    await reaches(world, "thief", "Failed");
    expect(await world.object("secret", "thief-admin-kubeconfig")).toBeUndefined();
    await world.kubectl("delete", "cti", "thief", "--timeout=60s");
    expect((await statusOf(world, "victim"))?.phase).toBe("Ready");
    expect(await world.leases()).toHaveLength(1);
  });

  test("gets no more than the quota by removing finalizer and notes", async () => {
    await using world = await FrontWorld.start(cluster);
    await world.create({
      ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1", kind: "ClusterTemplateQuota" },
      metadata: { name: "q" },
      spec: { allowedTemplates: [{ name: world.template, count: 1 }] },
    });
    await writeFile(join(world.world, "do", "destroy"), "exit 10\n");
    await world.instance("first");
    await reaches(world, "first", "Ready");
    await patch(world, "first", {
      ...{ finalizers: null, annotations: Object.fromEntries(notes.map((key) => [key, null])) },
    });
    await world.kubectl("delete", "cti", "first", "--timeout=60s");
    await world.instance("second");
    await reaches(world, "second", "Pending");
    expect((await statusOf(world, "second"))?.message).toMatch(/allows 1 of/);
    // Its lease ends because it is gone, and its cluster counts until it is destroyed.
    await expect.poll(() => world.leases(), { timeout }).toEqual([]);
    expect(created(world)).toBe(1);
    expect((await statusOf(world, "second"))?.phase).toBe("Pending");
    await writeFile(join(world.world, "do", "destroy"), "");
    await reaches(world, "second", "Ready");
  });

  test("does not delay those of another namespace by a crowd of objects", async () => {
    const quiet = await cluster.namespace();
    await using world = await FrontWorld.start(cluster, { neighbours: [quiet] });
    const kind = { apiVersion: "toolchain.dev.openshift.com/v1alpha1", kind: "SpaceRequest" };
    const requests = (where: string) => {
      return ["apis", ...kind.apiVersion.split("/"), "namespaces", where, "spacerequests"];
    };
    const request = (name: string) => ({ ...kind, metadata: { name }, spec: { tierName: "none" } });
    const toldIn = async (where: string) => {
      const path = requests(where);
      const { items } = await (await cluster.admin()).call<{ items: readonly Seen[] }>({ path });
      return items.filter(({ status }) => status?.conditions !== undefined).length;
    };
    // Each of the crowd takes a while, as on an API server that is far away.
    world.proxy.before = async ({ method, path }) => {
      if (method === "PATCH" && path.includes(world.namespace)) await pause(500);
    };
    const crowd = Array.from({ length: 80 }, (_, at) => request(`crowd-${at}`));
    await world.server.stop("SIGKILL");
    await cluster.create(requests(world.namespace), ...crowd);
    await world.crash();
    // It has all of them before it when another one comes.
    await expect.poll(() => toldIn(world.namespace), { timeout, interval: 50 }).toBeGreaterThan(0);
    await cluster.create(requests(quiet), request("alone"));
    await expect.poll(() => toldIn(quiet), { timeout, interval: 50 }).toBe(1);
    expect(await toldIn(world.namespace)).toBeLessThan(crowd.length);
  });

  test("learns at once that a name is too long for the Secrets, and no cluster is made", async () => {
    await using world = await FrontWorld.start(cluster);
    const name = "n".repeat(240);
    await world.instance(name);
    await reaches(world, name, "Failed");
    expect((await statusOf(world, name))?.message).toMatch(/its name has more than 233 characters/);
    await world.instance("n".repeat(233));
    await reaches(world, "n".repeat(233), "Ready");
    expect(created(world)).toBe(1);
  });
});
