/** Two installations of Berth that use the same name for one API server, and what happens to their marks. */
import { describe, expect, test } from "vitest";
import type { Attention } from "../src/api/attention-schemas.ts";
import type { TestServer } from "./cli-processes.ts";
import { FrontWorld } from "./front-world.ts";
import { noControllers, patienceMs } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";

const timeout = 60_000;
const cluster = sharedCluster();
const key = "berth/installation";
const another = "0123456789abcdef0123";
const group = ["apis", "clustertemplate.openshift.io", "v1alpha1"];

async function troubleOf({ url }: TestServer): Promise<string | undefined> {
  const { items } = (await (await fetch(`${url}/v1/attention`)).json()) as Attention;
  return items.find(({ code }) => code === "objects_of_another")?.about[0]?.text;
}

const reaches = (world: FrontWorld, name: string, phase: string) =>
  expect
    .poll(async () => (await world.object("cti", name))?.status?.phase, { timeout })
    .toBe(phase);

const markOf = async (world: FrontWorld, name: string) =>
  (await world.object("cti", name))?.metadata.annotations?.[key];

describe.skipIf(noControllers)("two installations of one name", { timeout: patienceMs }, () => {
  test("leave each other alone; the first goes on, also after a crash, and the second says why it does not", async () => {
    await using world = await FrontWorld.start(cluster);
    await world.instance("mine");
    await reaches(world, "mine", "Ready");
    await using second = await world.beside();
    await expect.poll(() => troubleOf(second), { timeout }).toContain(world.template);
    expect(await troubleOf(second)).toMatch(
      /^Cannot use the name tenants-\S+: another installation of Berth publishes small-/,
    );
    // What comes now is the first's, although the second would take it too.
    await world.instance("next");
    await reaches(world, "next", "Ready");
    await world.crash();
    await world.kubectl("delete", "cti", "mine", "--timeout=60s");
    expect(await troubleOf(world.server)).toBeUndefined();
    const held = (await second.json("leases")) as { holder: string }[];
    expect(held.filter(({ holder }) => holder.startsWith(world.namespace))).toEqual([]);
    expect(await world.object("clustertemplate", world.template)).toBeDefined();
    expect(await world.object("clustertemplate", `other-${world.namespace}`)).toBeUndefined();
    expect((await world.object("cti", "next"))?.status?.phase).toBe("Ready");
  });

  test("an object with the mark of another is left alone while that other publishes templates", async () => {
    await using world = await FrontWorld.start(cluster);
    const template = `theirs-${world.namespace}`;
    const labels = { "berth/front": "others", [key]: another };
    const spec = { clusterDefinition: "berth", cost: 1, skipClusterRegistration: true };
    await cluster.create([...group, "clustertemplates"], {
      ...{ apiVersion: group.slice(1).join("/"), kind: "ClusterTemplate" },
      ...{ metadata: { name: template, labels }, spec },
    });
    await world.crash(); // It looks at the templates when it starts.
    await world.create({
      ...{ apiVersion: group.slice(1).join("/"), kind: "ClusterTemplateInstance" },
      metadata: { name: "theirs", annotations: { [key]: another } },
      spec: { clusterTemplateRef: world.template },
    });
    await expect
      .poll(() => troubleOf(world.server), { timeout })
      .toContain(`serves ClusterTemplateInstance ${world.namespace}/theirs`);
    expect((await world.object("cti", "theirs"))?.metadata.finalizers).toBeUndefined();
    // Its journal is lost: an administrator removes its mark from its templates.
    await world.kubectl("label", "clustertemplate", template, `${key}-`);
    await world.crash();
    await reaches(world, "theirs", "Ready");
    await expect.poll(() => troubleOf(world.server), { timeout }).toBeUndefined();
    await world.kubectl("delete", "clustertemplate", template);
  });

  test("what was served before there were marks gets one, and a forged mark changes nothing", async () => {
    await using world = await FrontWorld.start(cluster);
    await world.instance("mine");
    await reaches(world, "mine", "Ready");
    const own = await markOf(world, "mine");
    expect(own).toMatch(/^[0-9a-f]{20}$/);
    await world.server.stop("SIGTERM");
    await world.kubectl("annotate", "cti", "mine", `${key}-`);
    await world.kubectl("label", "clustertemplate", world.template, `${key}-`);
    await world.crash();
    await expect.poll(() => markOf(world, "mine"), { timeout }).toBe(own);
    const marked = async () =>
      world.kubectl("get", "clustertemplate", "-l", `${key}=${own}`, "-o", "name");
    await expect.poll(marked, { timeout }).toContain(world.template);
    // Who may change the object may write anything on it.
    await world.kubectl("annotate", "cti", "mine", `${key}=${another}`, "--overwrite");
    await expect.poll(() => markOf(world, "mine"), { timeout }).toBe(own);
    await world.kubectl("annotate", "cti", "mine", `${key}=${another}`, "--overwrite");
    await world.kubectl("delete", "cti", "mine", "--timeout=60s");
    expect(await world.leases()).toEqual([]);
  });
});
