/** What a machine can find of what keeps people out: contrast, names, roles, order of headings. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { pageWorldWith, silentHubKubeconfig, type World } from "./page-world.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const phone = { width: 390, height: 800 };

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

describe.skipIf(chromiumPath === undefined)("the page", () => {
  let world: World;
  const paths: Record<string, string> = {
    overview: "/",
    "a pool": "/pools/account",
    "a pool with a pace and a limit": "/pools/paced",
    "a resource": "/resources/acc-3",
    "the queue": "/queue",
    leases: "/leases",
    "out of service": "/out",
    clusters: "/clusters",
    hubs: "/hubs",
    spaces: "/spaces",
    events: "/events",
    audit: "/audit",
    search: "/search?q=acc",
    history: "/history",
    "a pool that is lent by amount": "/pools/room",
    "a resource that is lent by amount": "/resources/room-1",
    "no such page": "/nowhere",
  };

  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-page-axe-"));
    const hub = join(folder, "hub.kubeconfig");
    writeFileSync(hub, silentHubKubeconfig);
    const pools = {
      account: { members: ["acc-1", "acc-2", "acc-3"], cooldown: "1h", lifetime: "2h" },
      single: { count: 1 },
      paced: {
        ...{ count: 3, limit: 2, pace: { every: "1h" } },
        adaptive: { mode: "advise", min: 0.01, max: 9 },
      },
      room: {
        place: "least-used",
        members: { "room-1": { capacity: { vcpus: 96, memory: 512 } } },
      },
      ns: { template: "ns", max: 2 },
    };
    world = await pageWorldWith({
      pools,
      auth: { anonymous: { space: "ops", role: "operator" } },
      spaces: { ops: { weight: 2, quota: { single: 1 } } },
      hubs: { east: { kubeconfig: hub, limit: 9, labels: { region: "us" } } },
      templates: { ns: { driver: "namespace", hubs: { region: "us" } } },
    });
    const { client } = world;
    const ask = (holder: string, pool: string) =>
      client.ask({ holder, items: [{ pool }], ttl: "10m" });
    const amount = { vcpus: 24, memory: 64 };
    await client.ask({ holder: "ci/4", items: [{ pool: "room", amount }], ttl: "10m" });
    await client.pin("paced", { rate: 2, by: "ada", reason: "known good" });
    const held = await ask("ci/1", "single");
    const waits = await ask("ci/2", "single");
    const resting = await ask("ci/3", "account");
    if (resting.granted)
      await client.releaseOnce({ ...resting.lease, token: resting.lease.token ?? "" });
    await client.changeResource("acc-2", { drained: true });
    await client.changeResource("acc-3", { state: "quarantined", note: "it failed\ntwice" });
    paths["a lease"] = `/leases/${held.granted ? held.lease.id : ""}`;
    paths["a request"] = `/requests/${waits.granted ? "" : waits.request.id}`;
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const names = [...Object.keys(paths), "a lease", "a request"];
  test.each(names)(
    "has no serious accessibility violation, light, dark or on a phone: %s",
    async (name) => {
      // For axe, which is not ours; the page itself is tested without this.
      const page = await world.open(paths[name] ?? "", { bypassCSP: true });
      await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
      await expect.poll(() => page.locator(".loading").count(), { timeout: 30_000 }).toBe(0);
      expect(await seriousFindings(page), "light").toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await seriousFindings(page), "dark").toEqual([]);
      await page.setViewportSize(phone);
      expect(await seriousFindings(page), "phone").toEqual([]);
      for (const width of [phone.width, 720, 1_000]) {
        await page.setViewportSize({ ...phone, width });
        const needed = () => page.evaluate<number>("document.documentElement.scrollWidth");
        // Charts follow the window a moment later.
        const said = `nothing sticks out of ${width} pixels`;
        await expect.poll(needed, { message: said }).toBeLessThanOrEqual(width);
      }
      await page.close();
    },
  );

  test("has no serious accessibility violation in the answer of what-if", async () => {
    const page = await world.open("/pools/account?values=2,3,4&last=1h", { bypassCSP: true });
    await page.getByRole("button", { name: "Replay the demand" }).click();
    await page.locator(".what-if .curves svg").waitFor();
    expect(await seriousFindings(page), "light").toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await seriousFindings(page), "dark").toEqual([]);
    await page.close();
  });

  test("shows spaces and hubs, so that these are checked too", async () => {
    const page = await world.open("/spaces");
    await page.locator(".space-table tbody tr", { hasText: "ops" }).waitFor();
    await page.goto(new URL("/clusters", world.server.url).href);
    await page.locator(".hub-rows li", { hasText: "east" }).waitFor();
    await page.close();
  });

  test("has no serious accessibility violation in the dialog before an action", async () => {
    const page = await world.open("/resources/acc-3", { bypassCSP: true });
    await page.getByRole("button", { name: "Return to service" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.close();
  });

  async function seriousFindings(page: Awaited<ReturnType<World["open"]>>) {
    await page.evaluate(axe);
    const violations = await page.evaluate<Finding[]>(
      "axe.run(document).then(({ violations }) => violations)",
    );
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) => `${id}: ${nodes.map((n) => `${n.html} ${n.failureSummary}`).join("\n")}`,
      );
  }
});
