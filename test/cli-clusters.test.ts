/** Clusters on the command line, made by a provisioner in another process. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Attention } from "../src/api/attention-schemas.ts";
import type { Cluster } from "../src/api/cluster-schemas.ts";
import { ScriptedWorld, scriptedProgram } from "../src/drivers/command/scripted-world.suite.ts";
import { type Process, TestServer } from "./cli-processes.ts";

const soon = { timeout: 120_000, interval: 50 };
let world: ScriptedWorld;
let server: TestServer;
let provisioner: Process;
beforeAll(async () => {
  world = await ScriptedWorld.open();
  for (const verb of ["observe", "hibernate", "destroy"] as const) {
    await world.before(verb, `printf '%s %s\\n' "$verb" "$request" >>"$WORLD/requests"`);
  }
  await world.occupy("berth-old", "old.1", "2020-01-01T00:00:00Z");
  const env = { WORLD: world.folder };
  const template = { driver: "command", command: [scriptedProgram], env, hibernates: true };
  const kube = { template: "t", size: 2, running: 1, lockDelay: "0s" };
  const later = { ...template, credentials: { aws: { file: "later.ini" } } };
  const config = { templates: { t: template, later }, pools: { kube, slot: { count: 1 } } };
  server = await TestServer.startWith(config, "--no-provisioner", "--log-level", "warn");
  const file = join(server.folder, "berth.yaml");
  provisioner = server.berth(["provisioner", "--config", file, "--data", server.folder]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

async function states(): Promise<string[]> {
  return ((await server.json("clusters")) as Cluster[]).map(({ state }) => state).sort();
}

test("a provisioner elsewhere passes the handle to its driver", { timeout: 240_000 }, async () => {
  await expect.poll(states, soon).toEqual(["free", "hibernated"]);
  await server.done(["run", "--pool", "kube", "--", "true"]);
  await expect.poll(async () => world.calls("destroy"), soon).not.toEqual([]);
  const requests = await readFile(join(world.folder, "requests"), "utf8");
  const of = (verb: string) => requests.split("\n").filter((line) => line.startsWith(`${verb} `));
  for (const verb of ["hibernate", "destroy"]) expect(of(verb)[0]).toContain('"handle":{"folder"');
  expect(await server.json("clusters")).not.toMatchObject([{ handle: expect.anything() }]);
});

test("a provisioner elsewhere says which templates it cannot use, until it can", async () => {
  const found = async () => {
    const { items } = (await (await fetch(`${server.url}/v1/attention`)).json()) as Attention;
    return items.find(({ code }) => code === "template_unusable")?.about;
  };
  const missing =
    /^provisioner\/.*: Cannot use the template later: the credential aws is missing: /;
  const about = { kind: "template", name: "later", text: expect.stringMatching(missing) };
  await expect.poll(found, soon).toMatchObject([{ ...about, since: expect.any(String) }]);
  const { stdout } = await server.done(["templates", "-o", "wide"]);
  expect(stdout).toMatch(/CANNOT BE USED/);
  expect(stdout).toMatch(/^later .*the credential aws is missing/m);
  await writeFile(join(server.folder, "later.ini"), "a-secret-of-aws");
  await expect.poll(found, soon).toBeUndefined();
  expect((await server.done(["templates"])).stdout).not.toContain("CANNOT BE USED");
});

test("orphans are listed, counted, and noted beside the clusters", async () => {
  await provisioner.says(/Making clusters/);
  const listed = async () => (await server.done(["clusters", "orphans", "-o", "name"])).stdout;
  await expect.poll(listed, soon).toBe("berth-old\n");
  const { stderr } = await server.done(["clusters"]);
  expect(stderr).toContain("1 cluster exists outside that nobody knows of: berth clusters orphans");
  const { stdout } = await server.done(["clusters", "orphans"]);
  expect(stdout).toMatch(/NAME +INSTANCE +TEMPLATE +KNOWN FOR\nberth-old +old\.1 +t +\d+s\n/);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('berth_orphan_clusters{template="t"} 1\n');
});

test("names of clusters are completed, also for what is done with them", async () => {
  const offered = async (...words: string[]) =>
    (await server.done(["__complete", "--", ...words])).stdout.trim().split("\n");
  const names = ((await server.json("clusters")) as Cluster[]).map(({ name }) => name);
  expect(await offered("clusters", "hold", "")).toEqual(names);
  expect(await offered("clusters", "logs", "kube-")).toEqual(names);
  expect(await offered("clusters", "ku")).toEqual(names);
  expect(await offered("clusters", "unh")).toEqual(["unhold\tLet a held cluster go"]);
  expect(await offered("clusters", "adopt", "")).toEqual([""]);
});
