/** The GitHub Action as the runner would run it: with files for outputs, and a last step. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { pause } from "../src/client/pause.ts";
import { berthPath, Process, TestServer } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** One use of the action: what its files say comes back, as the runner hands it to the last step. */
class ActionRun {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(folder: string, inputs: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    const given = Object.entries({ berth: berthPath, "renew-every": "200ms", ...inputs });
    this.#env = {
      ...env,
      RUNNER_TEMP: folder,
      ...Object.fromEntries(
        ["OUTPUT", "STATE", "ENV"].map((file) => [`GITHUB_${file}`, join(folder, file)]),
      ),
      ...Object.fromEntries(given.map(([name, text]) => [`INPUT_${name.toUpperCase()}`, text])),
    };
  }

  async main(): Promise<Process> {
    for (const file of ["OUTPUT", "STATE", "ENV"]) await writeFile(join(this.#folder, file), "");
    return this.#step("main.js", {});
  }

  async post(): Promise<Process> {
    const state = Object.entries(await this.told("STATE"));
    return this.#step(
      "post.js",
      Object.fromEntries(state.map(([name, text]) => [`STATE_${name}`, text])),
    );
  }

  async told(file: "OUTPUT" | "STATE" | "ENV"): Promise<Record<string, string>> {
    const lines = (await readFile(join(this.#folder, file), "utf8")).split("\n").filter(Boolean);
    return Object.fromEntries(lines.map((line) => /^([^=]+)=(.*)$/.exec(line)?.slice(1) ?? []));
  }

  async #step(name: string, env: NodeJS.ProcessEnv): Promise<Process> {
    const step = new Process(process.execPath, [pathOf(`action/${name}`)], {
      ...this.#env,
      ...env,
    });
    await step.ended;
    return step;
  }
}

/** Resolves once it reads something else than at first. */
async function changes(read: () => Promise<string>): Promise<void> {
  const before = await read();
  while ((await read()) === before) await pause(100);
}

test("the example uses inputs and outputs that the action has", async () => {
  const action = parse(await readFile(pathOf("action/action.yml"), "utf8"));
  const example = parse(await readFile(pathOf("examples/ci/github-actions.yaml"), "utf8"));
  const jobs: { steps: { uses?: string; with?: object }[] }[] = Object.values(example.jobs);
  const uses = jobs.flatMap(({ steps }) => steps).filter((step) => step.uses?.includes("berth"));
  expect(uses).toHaveLength(2);
  for (const step of uses) {
    expect(Object.keys(action.inputs)).toEqual(
      expect.arrayContaining(Object.keys(step.with ?? {})),
    );
  }
  expect(Object.keys(action.outputs)).toContain("slot_id");
});

test("the example installs Node and Berth before a job needs slots", async () => {
  const example = parse(await readFile(pathOf("examples/ci/github-actions.yaml"), "utf8"));
  const { steps } = example.jobs["with-a-slot"] as { steps: object[] };
  const texts = steps.map((step) => JSON.stringify(step));
  const use = texts.findIndex((text) => /"uses":"berth|"run":"berth/.test(text));
  const node = texts.findIndex((text) => /setup-node.*"node-version":24/.test(text));
  const install = texts.findIndex((text) => /npm install --global .*BERTH_PACKAGE/.test(text));
  expect([node < install, install < use, node >= 0]).toEqual([true, true, true]);
});

test("the action needs nothing on the runner for a lease: it uses the server's own client", async () => {
  await using server = await TestServer.start({ account: { members: ["acc-1"], lockDelay: "0s" } });
  const folder = join(server.folder, "runner");
  await mkdir(folder);
  const inputs = { berth: "", pool: "account", server: server.url, ttl: "30s" };
  const env = { PATH: "/usr/bin:/bin" };
  const run = new ActionRun(folder, inputs, env);
  const main = await run.main();
  expect(main.child.exitCode, main.all).toBe(0);
  expect(JSON.parse((await run.told("STATE"))["command"] ?? "")).toEqual([
    "sh",
    expect.stringMatching(/berth\.sh$/),
  ]);
  expect(await run.told("ENV")).toEqual({ BERTH_RESOURCE_ACCOUNT: "acc-1" });
  const expiresAt = async () =>
    String(((await server.json("leases")) as { expiresAt: string }[])[0]?.expiresAt);
  await changes(expiresAt);
  const post = await run.post();
  expect(post.child.exitCode, post.all).toBe(0);
  expect(await server.json("leases")).toEqual([]);
});

test("the action holds a lease of a server, and releases it", async () => {
  await using server = await TestServer.start({ account: { members: ["acc-1"], lockDelay: "0s" } });
  const env = { PATH: process.env["PATH"] };
  const run = new ActionRun(
    server.folder,
    { pool: "account", server: server.url, ttl: "30s" },
    env,
  );
  const main = await run.main();
  expect(main.child.exitCode).toBe(0);
  expect(await run.told("OUTPUT")).toMatchObject({ resources: "acc-1" });
  expect(await run.told("ENV")).toEqual({ BERTH_RESOURCE_ACCOUNT: "acc-1" });
  const { token = "" } = await run.told("STATE");
  expect(main.stdout).toContain(`::add-mask::${token}`);
  const expiresAt = async () =>
    String(((await server.json("leases")) as { expiresAt: string }[])[0]?.expiresAt);
  await changes(expiresAt); // Somebody keeps it alive.
  expect((await run.post()).child.exitCode).toBe(0);
  expect(await server.json("leases")).toEqual([]);
});

describe.skipIf(noKube)("the action", { timeout: patienceMs }, () => {
  const cluster = sharedCluster();

  test("holds a slot while the job runs, and releases it", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const run = new ActionRun(world.folder, { suffix: "pr3" }, world.env);
    expect((await run.main()).child.exitCode).toBe(0);
    expect(await run.told("OUTPUT")).toEqual({
      slot_id: "0",
      slot_fence: "1",
      slot_holder: "pr3:1",
    });
    expect(await run.told("ENV")).toMatchObject({ BERTH_SLOT_ID: "0" });
    await changes(async () => (await world.slot(0))?.spec?.renewTime ?? "");
    const post = await run.post();
    expect([post.child.exitCode, post.stderr]).toEqual([0, "Released slot 0\n"]);
    expect(await world.holders()).toEqual([]);
  });

  test("fails the job if another job has its slot, and does not release it", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const run = new ActionRun(world.folder, { suffix: "pr3" }, world.env);
    await run.main();
    world.kubectl("delete", "lease", "berth-slot-0");
    await world.script(0, "pr9:1");
    const post = await run.post();
    expect(post.child.exitCode).toBe(1);
    expect(post.stdout).toContain("::error::The slot was lost while the job ran");
    expect(await world.holders()).toEqual(["pr9:1"]);
  });

  test("fails the job that gets no slot in time", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await world.script(0, "pr9:1");
    const run = new ActionRun(world.folder, { timeout: "0s" }, world.env);
    const main = await run.main();
    expect(main.child.exitCode).toBe(1);
    expect(main.stdout).toContain("::error::No slot: berth slots acquire ended with 75");
    expect((await run.post()).child.exitCode).toBe(0);
  });
});
