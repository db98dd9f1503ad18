/** The charts of the page: where they begin, and that what explains a curve is drawn. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

const install = { count: 6, lockDelay: "0s", pace: { every: "1s" } };
const idle = { count: 2 };

describe.skipIf(chromiumPath === undefined)("the charts of the page", () => {
  const world = sharedWorld({ install, idle });

  /** The texts of all marks that a chart has drawn. */
  const drawnIn = (page: Page, title: string) =>
    page.locator("figure.chart", { hasText: title }).locator(".mark");

  test("draw every change, reload and outage that they name", async () => {
    const { server, client } = world();
    await client.ask({ holder: "ci/1", items: [{ pool: "install" }], ttl: "10m" });
    expect((await server.done(["pin", "install", "--rate", "7", "--reason", "slow"])).code).toBe(0);
    await server.stop();
    await server.start();
    const grown = { pools: { install: { ...install, count: 8 }, idle } };
    await writeFile(join(server.folder, "berth.yaml"), JSON.stringify(grown));
    await expect
      .poll(async () => (await client.pool("install")).total, { timeout: 50_000 })
      .toBe(8);

    // Within a day all of it is in the last step, which is not over.
    let page = await world().open("/pools/install?window=24h");
    const expectMarks = async () => {
      for (const title of ["Wait until the start", "In use", "Leases"]) {
        const drawn = drawnIn(page, title);
        await drawn.and(page.locator("[data-text*='7 starts per minute: pin']")).waitFor();
        await drawn.and(page.locator("[title*='7 starts per minute: pin']")).waitFor();
        await drawn.and(page.locator(".outage[data-text*='the server did not run']")).waitFor();
        await drawn.and(page.locator("[data-text*='the configuration changed']")).first().waitFor();
      }
    };
    await expectMarks();
    page = await world().open("/pools/install");
    await expectMarks();
    const key = page.locator(".mark-key > span:has(i)");
    const named = (await key.allTextContents()).map((text) => text.trim());
    const marks = await drawnIn(page, "In use").all();
    const texts = await Promise.all(marks.map((mark) => mark.getAttribute("data-text")));
    expect(named.length).toBeGreaterThan(1);
    for (const name of named) expect(texts).toContain(name);
    expect(world().complaints).toEqual([]);
  });

  test("of all pools have a list of those that were full or kept requests waiting", async () => {
    await world().client.ask({ holder: "ci/2", items: [{ pool: "install" }], ttl: "10m" });
    const page = await world().open("/history?worst=use&window=1h");
    const worst = page.getByRole("region", { name: "Where requests waited" });
    await worst.getByRole("row", { name: /^install / }).waitFor();
    expect(await worst.getByRole("row", { name: /^idle / }).count()).toBe(0);
    await worst.getByRole("button", { name: "Granted" }).click();
    await worst
      .getByRole("columnheader", { name: "Granted", exact: false })
      .and(page.locator("[aria-sort=descending]"))
      .waitFor();
    expect(new URL(page.url()).searchParams.get("worst")).toBe("granted");
    await page.goBack();
    await worst.getByRole("link", { name: "install" }).click();
    await page.getByRole("heading", { level: 1, name: "install" }).waitFor();
    expect(new URL(page.url()).search).toBe("?window=1h");
    expect(world().complaints).toEqual([]);
  });

  test("of a pool say below them when two weeks can be compared", async () => {
    const page = await world().open("/pools/install");
    await page.getByText(/^Compare this week with the week before: possible in [67]d/).waitFor();
    expect(await page.getByRole("region", { name: /^Compare weeks/ }).count()).toBe(0);
    expect(world().complaints).toEqual([]);
  });

  test("say to which time they are zoomed, and a period ends the zoom", async () => {
    const to = Math.floor(Date.now() / 1_000);
    const page = await world().open(`/pools/install?from=${to - 60}&to=${to}`);
    const charts = page.getByRole("region", { name: "Over time" });
    // Such a link is about the charts.
    await page.waitForFunction("scrollY > 0");
    await charts.getByText(/^[^;]*\d\d:\d\d:\d\d(–| to ).*\d\d:\d\d$/).waitFor();
    await charts.getByRole("button", { name: "Reset zoom" }).waitFor();
    await charts.getByRole("button", { name: "6h" }).click();
    expect(new URL(page.url()).search).toBe("?window=6h");
    expect(await charts.getByRole("button", { name: "Reset zoom" }).count()).toBe(0);
    expect(world().complaints).toEqual([]);
  });

  test("begin where the data does, and say so if there is none", async () => {
    const page = await world().open("/pools/idle");
    await page.getByText("No request has started in this time").waitFor();
    await page.getByText(/^since \d\d:\d\d, no leases before; .*times in /).waitFor();
  });
});
