/** The page with clusters that a driver program makes. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { BerthClient } from "../src/client/berth-client.ts";
import { chromiumPath } from "./chromium.ts";
import { pageWorldWith, type World } from "./page-world.ts";

const driver = fileURLToPath(new URL("./fixtures/drivers/scripted.sh", import.meta.url));

const within = { timeout: 30_000 };

describe.skipIf(chromiumPath === undefined)("the page of clusters", () => {
  let folder: string;
  let world: World;
  let client: BerthClient;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-page-clusters-"));
    await mkdir(join(folder, "do"));
    // The second cluster takes its time, and says how far it is.
    const slow = `case $name in *) ;; esac
if [ -f "$WORLD/slow" ] && mine; then echo '{"phase":"creating","progress":0.4,"message":"installing operators"}'; exit 0; fi`;
    await writeFile(join(folder, "do", "observe"), slow);
    // The provisioner's own search would replace what a test reports, whenever it comes.
    await writeFile(join(folder, "do", "list"), "exit 1");
    const env = { WORLD: folder, PATH: process.env["PATH"] ?? "" };
    const small = {
      ...{ driver: "command", command: [driver], env, cost: 3, hibernates: true },
      parameters: { version: { enum: ["1.34", "1.35"], default: "1.35" } },
    };
    const pools = { ocp: { template: "small", size: 2, running: 1 }, plain: { count: 1 } };
    world = await pageWorldWith({ templates: { small }, pools });
    client = world.client;
    const states = async () => (await client.clusters.every()).map(({ state }) => state).sort();
    const ready = async () => expect(await states()).toEqual(["free", "hibernated"]);
    await vi.waitFor(ready, { timeout: 30_000, interval: 100 });
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test("shows a cluster that no pool has: on the overview, and below the clusters", async () => {
    const orphan = { name: "berth-old", instance: "old.1", createdAt: "2020-01-01T00:00:00Z" };
    const report = (found: readonly object[]) =>
      fetch(`${world.server.url}/v1/orphans`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ template: "small", credentials: null, found }),
      });
    expect((await report([orphan])).status).toBe(200);
    const page = await world.open("/");
    const line = page.getByText("1 cluster belongs to no pool and may cost money");
    await line.waitFor();
    await page.getByText(/^\d+d\S* old, of template small; no pool has it$/).waitFor();
    await page.getByRole("link", { name: "Show it" }).click();
    const section = page.getByRole("region", { name: /Orphaned clusters/ });
    await section.getByRole("row", { name: /berth-old old\.1 small/ }).waitFor();
    await report([]);
    await section.waitFor({ state: "detached" });
    expect(world.complaints).toEqual([]);
  });

  test("lists clusters with their state, holder and costs", async () => {
    const page = await world.open("/clusters");
    await page.getByRole("heading", { name: "Clusters 2" }).waitFor();
    await page.locator("tr", { hasText: "ocp-1" }).locator(".chip", { hasText: "free" }).waitFor();
    await page.locator("tr", { hasText: "ocp-2" }).getByText("hibernated").waitFor();
    const run = world.server.berth([
      "run",
      "--pool",
      "ocp",
      "--holder",
      "e2e/42",
      "--",
      "sleep",
      "60",
    ]);
    await page.locator("tr", { hasText: "e2e/42" }).getByText("held").waitFor();
    await page.getByRole("heading", { name: "Costs 7 days" }).waitFor();
    await page.getByLabel("Filter by cluster, pool, hub, state or holder").fill("e2e/42");
    expect(await page.locator("table.clusters tbody tr").count()).toBe(1);
    run.signal("SIGTERM");
    await run.ended;
    expect(world.complaints).toEqual([]);
  });

  test("shows the phases of one cluster against the usual, its progress, and its parameters", async () => {
    await writeFile(join(folder, "slow"), "");
    const asked = await client.ask({
      holder: "slow/1",
      items: [{ pool: "ocp", parameters: { version: "1.34" } }],
      ttl: "10m",
    });
    const cluster = async () =>
      (await client.clusters.every()).find(({ parameters }) => parameters["version"] === "1.34");
    await expect.poll(async () => (await cluster())?.progress, within).toBe(0.4);
    const name = (await cluster())?.name ?? "";
    const page = await world.open(`/clusters/${name}`);
    await page.getByRole("img", { name: "40 % done, as its driver says" }).waitFor();
    await page.getByText("installing operators").first().waitFor();
    await page.locator(".facts > div", { hasText: "version" }).getByText("1.34").waitFor();
    const phases = page.getByRole("region", { name: "Phases" });
    await phases
      .locator("li.now", { hasText: "creating" })
      .getByText(/usually/)
      .waitFor();
    const pool = await world.open("/pools/ocp");
    const now = pool.getByRole("region", { name: "Stock" }).getByRole("region", { name: "Now" });
    await now.getByText(new RegExp(`^creating ${name} for \\S+, usually takes`)).waitFor();
    const tile = pool.locator(".tile", { hasText: name });
    await tile.getByText(/^for \S+, usually takes \S+$/).waitFor();
    await pool.close();
    await rm(join(folder, "slow"));
    await phases.locator("li.now", { hasText: "held" }).waitFor();
    expect(await phases.locator("li").allInnerTexts()).toHaveLength(2);
    await page.getByRole("link", { name: "slow/1" }).first().waitFor();
    if (asked.granted === false) {
      const { id, token = "" } = asked.request;
      await client.release({ id, token });
    }
    await phases.locator("li", { hasText: "destroying" }).waitFor();
    expect(world.complaints).toEqual([]);
  });

  test("lets operators hold a cluster and let it go, and says what will happen", async () => {
    // The one that was lent before may be on its way still.
    const hibernated = async () =>
      (await client.clusters.every()).find(({ state }) => state === "hibernated")?.name;
    await expect.poll(hibernated, within).toBeDefined();
    const name = (await hibernated()) ?? "";
    const page = await world.open(`/clusters/${name}`);
    await page.getByRole("button", { name: "Keep for debugging (2h)" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`${name} is not destroyed for 2 hours`).waitFor();
    await dialog.getByLabel("Your name").fill("ann");
    await dialog.getByLabel("Why").fill("router does not start");
    await dialog.getByRole("button", { name: "Keep for debugging" }).click();
    await page
      .getByText(/kept for debugging by .*router does not start/)
      .first()
      .waitFor();
    expect((await client.clusters.one(name)).hold?.why).toBe("router does not start");
    await page.getByRole("button", { name: "Let go" }).click();
    await dialog.getByLabel("Why").fill("seen enough");
    await dialog.getByRole("button", { name: "Let go" }).click();
    await expect
      .poll(async () => (await client.clusters.every()).some((one) => one.name === name), within)
      .toBe(false);
    expect(world.complaints).toEqual([]);
  });

  test("shows the stock of a pool beside what its plan wants", async () => {
    const page = await world.open("/pools/ocp");
    const section = page.getByRole("region", { name: "Stock" });
    await section.locator(".facts > div", { hasText: "In stock" }).getByText("keeps 2").waitFor();
    await section.getByText("Nothing to do: the stock is complete.").waitFor();
    const plan = await client.clusters.plan("ocp");
    expect(plan).toMatchObject({ template: "small", size: 2, running: 1, auto: false });
    await page.goto(new URL("/pools/plain", world.server.url).href);
    await page.getByRole("heading", { name: "Resources" }).waitFor();
    expect(await page.getByRole("region", { name: "Stock" }).count()).toBe(0);
  });

  test("says what clusters are where there are none", async () => {
    await using empty = await pageWorldWith({ pools: { plain: { count: 1 } } });
    const page = await empty.open("/clusters");
    await page.getByText("There are no clusters").waitFor();
    expect(await page.getByRole("heading", { name: /Costs/ }).count()).toBe(0);
  });
});
