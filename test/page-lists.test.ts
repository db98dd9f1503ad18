/** Queue and leases: groups, filters in the address, files for spreadsheets; charts and their zoom. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

describe.skipIf(chromiumPath === undefined)("the page", () => {
  const world = sharedWorld({
    aws: { count: 1 },
    gcp: { count: 1 },
    quick: { count: 2, lockDelay: "0s" },
  });
  const ask = (holder: string, pool: string, labels: Record<string, string> = {}) =>
    world().client.ask({ holder, items: [{ pool }], ttl: "10m", labels });
  const saved = async (page: Page) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    return await readFile(await download.path(), "utf8");
  };

  test("groups the queue and the leases, filters by labels, and saves what it shows", async () => {
    await ask("ci/1", "aws");
    await ask("=cmd()", "gcp");
    await ask("ci/2", "aws", { branch: "main" });
    await ask("ci/3", "gcp", { branch: "release" });
    const page = await world().open("/queue");
    const groups = page.locator("tr.group th");
    await groups.nth(1).waitFor();
    expect(await groups.allTextContents()).toEqual(["aws 1", "gcp 1"]);
    await page.getByRole("button", { name: "One list" }).click();
    await groups.first().waitFor({ state: "detached" });
    await page.getByLabel("Filter by holder").fill("branch=rel");
    await page.locator(".queue tbody tr", { hasText: "ci/2" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("?group=none&q=branch%3Drel");
    const [head, row, end] = (await saved(page)).split("\r\n");
    expect(head).toMatch(/^position,holder,space,wants,/);
    expect(row).toMatch(/^1,ci\/3,,gcp,/);
    expect(end).toBe("");

    await page.goto(new URL("/leases", world().server.url).href);
    await groups.nth(1).waitFor();
    expect(await groups.allTextContents()).toEqual(["aws 1", "gcp 1"]);
    await page
      .locator("tr", { hasText: "ci/1" })
      .getByText(/^\d+s ago$/)
      .waitFor();
    expect(await saved(page)).toContain(",'=cmd(),"); // A spreadsheet must not run it.
    expect(world().complaints).toEqual([]);
  });

  test("zooms into a chart by dragging, and the address has the range", async () => {
    const { client } = world();
    const done = await ask("ci/9", "quick");
    if (done.granted) await client.releaseOnce({ ...done.lease, token: done.lease.token ?? "" });
    const page = await world().open("/history");
    await page.getByText(/^last 5m, times in /).waitFor(); // No day with two dots.
    const plot = page.locator(".chart .u-over").first();
    const box = await plot.boundingBox();
    if (box === null) throw new Error("There is no chart");
    const at = (part: number) => [box.x + box.width * part, box.y + box.height / 2] as const;
    await page.mouse.move(...at(0.5));
    // All charts read the same moment.
    await expect.poll(() => page.locator(".chart-tip:visible").count()).toBe(3);
    const [, first, second] = await page
      .locator(".chart-tip")
      .first()
      .locator("*")
      .allTextContents();
    expect([first, second]).toEqual([
      expect.stringMatching(/^9 in 10 within: /),
      expect.stringMatching(/^half within: /),
    ]);
    await page.mouse.down();
    await page.mouse.move(...at(0.9), { steps: 4 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Reset zoom" }).waitFor();
    const { searchParams } = new URL(page.url());
    const seconds = Number(searchParams.get("to")) - Number(searchParams.get("from"));
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThan(180);
    await page.reload();
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await page.getByText(/^last 5m, times in /).waitFor();

    // Past leases are found by a part of a word, and saved.
    await page.getByRole("heading", { name: "This week and the week before" }).waitFor();
    await page.getByLabel("Filter by holder").fill("I/9");
    await page.locator(".past tbody tr", { hasText: "ci/9" }).waitFor();
    expect(await saved(page)).toMatch(/^id,holder,.*\r\n[^,]+,ci\/9,/);
    await page.getByLabel("Filter by holder").fill("nobody");
    await page.getByText("No past lease matches").waitFor();
    expect(world().complaints).toEqual([]);
  });
});
