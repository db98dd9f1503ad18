/** What a phone shows first, and lists that stay where they are. */
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

describe.skipIf(chromiumPath === undefined)("on a phone", () => {
  const world = sharedWorld({ many: { count: 30 }, single: { count: 1 }, other: { count: 2 } });
  const ask = (holder: string, priority = 0) =>
    world().client.ask({ holder, items: [{ pool: "single" }], ttl: "10m", priority });
  const note = "the cleaner could not delete the volume vol-0f3a19 because an instance uses it";

  test("the first pool is in sight below two things that need attention", async () => {
    await world().client.changeResource("many-7", { state: "quarantined", note });
    const page = await world().open("/", phone);
    const trouble = page.locator(".trouble");
    await trouble.getByRole("button", { name: "Less about" }).click();
    const { height = 0 } = (await trouble.boundingBox()) ?? {};
    const row = await page.locator("table.pools tbody tr").first().boundingBox();
    expect((row?.y ?? 0) + (row?.height ?? 0) + height).toBeLessThan(780);
    const { x = 0, width = 0 } =
      (await page.getByRole("button", { name: "Needs attention" }).boundingBox()) ?? {};
    expect(x + width).toBeLessThan(390);
    await page.locator(".colours summary").click();
    await page.locator(".colours").getByText("being cleaned").waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("a chosen filter shows its list, and a long page has links to its parts", async () => {
    for (const holder of ["holds/filter", "waits/filter"])
      await world().client.ask({ holder, items: [{ pool: "other", count: 2 }], ttl: "10m" });
    const page = await world().open("/", { ...phone, viewport: { width: 390, height: 300 } });
    await page.locator("table.pools tbody tr").first().waitFor();
    const topOf = async (selector: string) => (await page.locator(selector).boundingBox())?.y ?? 0;
    await page.locator("fieldset").getByRole("button", { name: "Waiting" }).tap();
    await page.locator(".count", { hasText: "1 of 3" }).waitFor();
    // As near to the top as the page is long.
    const room = () =>
      page.evaluate<number>("document.documentElement.scrollHeight - innerHeight - scrollY");
    await expect
      .poll(async () => (await room()) <= 1 || (await topOf(".tools")) <= 1, { timeout: 10_000 })
      .toBe(true);
    await page.getByRole("link", { name: "other" }).tap();
    const links = page.getByRole("navigation", { name: "On this page" }).getByRole("link");
    const parts = ["Queue", "Over time", "What if?", "Policy", "Resources"];
    await expect.poll(() => links.allTextContents()).toEqual(parts);
    await links.filter({ hasText: "Policy" }).tap();
    await expect.poll(() => topOf("#policy-title")).toBeLessThan(300);
    await page.setViewportSize({ width: 1_200, height: 780 });
    await links.first().waitFor({ state: "hidden" });
    expect(world().complaints).toEqual([]);
  });

  test("free resources are one line, and broken ones come first", async () => {
    await world().client.changeResource("many-7", { state: "quarantined", note });
    await world().client.ask({ holder: "ci/1", items: [{ pool: "many" }], ttl: "10m" });
    const page = await world().open("/pools/many", phone);
    const names = () =>
      page
        .locator(".tile-head a")
        .evaluateAll((links) => links.map((link) => link.getAttribute("aria-label")));
    await expect.poll(names, { timeout: 20_000 }).toEqual(["many-7", "many-1"]);
    // All lines of the tile are whole.
    const foot = await page.locator(".tile-foot").first().boundingBox();
    const tile = await page.locator(".tile").first().boundingBox();
    expect((foot?.y ?? 0) + (foot?.height ?? 0)).toBeLessThanOrEqual(
      (tile?.y ?? 0) + (tile?.height ?? 0) - 4,
    );
    await page.getByRole("button", { name: "Show 28 free" }).click();
    await page.locator("[aria-setsize='30']").first().waitFor();
    expect(new URL(page.url()).search).toBe("?free=show");
    await page.getByRole("button", { name: "Hide 28 free" }).waitFor();
    await page.getByLabel("Filter by name or holder").fill("many-1");
    await page.locator("[aria-setsize='11']").first().waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("a queue that grows moves nothing, and says who waits longest further down", async () => {
    await ask("holds/0");
    await ask("oldest/1");
    const page = await world().open("/pools/single", phone);
    const kept = page.locator("button.more.kept");
    await kept.waitFor({ state: "attached" });
    const before = await kept.boundingBox();
    for (let count = 0; count < 11; count++) await ask(`urgent/${count}`, 10);
    const more = page.getByRole("button", { name: /^Show more/ });
    await more.waitFor();
    expect((await more.boundingBox())?.height).toBe(before?.height);
    await page.getByText("Further down, waits longest:").waitFor();
    const last = page.locator(".queue tbody tr").last();
    await last.getByText("oldest/1").waitFor();
    await more.click();
    await page.getByText("Further down, waits longest:").waitFor({ state: "detached" });
    expect(world().complaints).toEqual([]);
  });
});
