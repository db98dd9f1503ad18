/** Hubs on the page and on the command line: one that nobody can reach, and what was found on it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { pageWorldWith, silentHubKubeconfig, type World } from "./page-world.ts";

describe.skipIf(chromiumPath === undefined)("the hubs on the page", () => {
  let folder: string;
  let world: World;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-page-hubs-"));
    const file = join(folder, "east.kubeconfig");
    await writeFile(file, silentHubKubeconfig);
    world = await pageWorldWith({
      hubs: { "hub-east": { kubeconfig: file, limit: 9, labels: { region: "us" }, foreign: {} } },
      templates: { ns: { driver: "namespace", hubs: { region: "us" } } },
      pools: { ns: { template: "ns", max: 2 } },
    });
    const state = async () => (await world.client.hubs.one("hub-east")).state;
    await vi.waitFor(async () => expect(await state()).toBe("unreachable"), {
      ...{ timeout: 30_000, interval: 200 },
    });
    const common = { kind: "HostedCluster", namespace: "clusters", state: "ready", instance: null };
    await world.client.hubs.putClusters("hub-east", {
      items: [{ ...common, name: "ann-7", createdAt: "2020-01-01T00:00:00Z", owner: "ann" }],
    });
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test("show the last error in full, the limit, and clusters that Berth has not made", async () => {
    const page = await world.open("/clusters");
    await page.getByRole("heading", { name: "Hubs 1" }).waitFor();
    // Only what needs somebody; the rest is on the page of the hubs.
    const line = page.locator(".hub-rows li", { hasText: "hub-east" });
    await line.getByText("unreachable").waitFor();
    await line.getByRole("link", { name: "hub-east" }).click();
    const row = page.locator(".gate", { hasText: "hub-east" });
    await row.getByText("unreachable", { exact: true }).waitFor();
    await row.getByText("0 of 9").waitFor();
    await row.getByText("room for 0 (9 when it is active)").waitFor();
    await row.getByText("region=us").waitFor();
    await row.getByRole("link", { name: "ns", exact: true }).waitFor();
    const isWithin = "document.documentElement.scrollWidth <= window.innerWidth";
    expect(await page.evaluate(isWithin)).toBe(true);
    expect(await row.locator("code").textContent()).toContain("127.0.0.1:9");
    await page.getByText(/^On the hub itself, \d+s ago: 0 of Berth, 1 other$/).click();
    await page
      .locator(".hub-clusters tr", { hasText: "clusters/ann-7" })
      .getByText("ann", { exact: true })
      .waitFor();
  });

  test("have a page of their own, which says who has cordoned one, when and why", async () => {
    await world.client.hubs.set("hub-east", { state: "cordoned", by: "ann", reason: "upgrade" });
    const page = await world.open("/hubs");
    await page.getByRole("heading", { name: "Hubs 1" }).waitFor();
    const row = page.locator(".gate", { hasText: "hub-east" });
    await row.getByText(/cordoned by ann at \d\d:\d\d:\d\d: upgrade/).waitFor();
    const nav = page.getByRole("navigation", { name: "Views" });
    expect(await nav.locator("[aria-current=page]").textContent()).toBe("Clusters");
    await row.getByRole("link", { name: "Clusters of Berth" }).click();
    await page.getByRole("heading", { name: "Clusters", exact: false, level: 1 }).waitFor();
    await world.client.hubs.set("hub-east", { state: "active", by: "ann", reason: "done" });
  });

  test("berth hubs lists, cordons with a reason, and uses a hub again", async () => {
    const { server } = world;
    const cordoned = await server.done(["hubs", "cordon", "hub-east", "--reason", "upgrade"]);
    expect(cordoned.stdout).toContain("hub-east gets no new clusters");
    const listed = await server.done(["hubs", "-o", "wide"]);
    expect(listed.stdout).toMatch(/hub-east +unreachable,cordoned +0\/9/);
    const found = await server.done(["hubs", "clusters", "hub-east"]);
    expect(found.stdout).toMatch(/HostedCluster +clusters +ann-7 +ready .* ann +- +-/);
    await server.done(["hubs", "uncordon", "hub-east"]);
    const again = await server.done(["hubs", "hub-east", "-o", "json"]);
    expect(again.stdout).toContain('"setState": "active"');
    const unknown = await server.done(["hubs", "drain", "hub-eats"]);
    expect([unknown.code, unknown.all]).toEqual([66, expect.stringContaining("hub-east")]);
  });
});
