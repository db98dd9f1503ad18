/** What a window of any width shows of each row: its name, the numbers of the tiles, and when a request starts. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { pageWorldWith, type World } from "./page-world.ts";

const widths = [1_360, 1_280, 1_200, 1_000, 950, 800, 720, 390];
/** As long as the longest of usual names. */
const pool = "aws-security-fips-account1";
const holder = "scheduler/conformance-8441";

/** What is cut off, or written over what is beside it: the words that nobody can read. */
const cutOff = `(() => {
  const visible = (node) => node.getClientRects().length > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(visible);
  const beyond = (box) => (node) => {
    const around = node.closest(box);
    const { left, right } = node.getBoundingClientRect();
    const edge = around.getBoundingClientRect();
    return right > edge.right + 1 || left < edge.left - 1;
  };
  const tooSmall = (node) => node.scrollWidth > node.clientWidth + 1;
  return [
    ...all("main tbody th a").filter(beyond("th")),
    ...all(".host-head a, .host-holders a").filter(beyond(".host")),
    ...all(".host-holders a").filter(tooSmall),
    ...all(".host-bars small").filter(beyond("dl")),
    ...all(".figures :is(dt, dd)").filter(tooSmall),
    ...all("tbody .number").filter(tooSmall),
  ].map((node) => node.textContent);
})()`;

const tooWide = `["html", "main"].filter((selector) => {
  const { scrollWidth, clientWidth } = document.querySelector(selector);
  return scrollWidth > clientWidth;
})`;

describe.skipIf(chromiumPath === undefined)("a window of any width", () => {
  let world: World;
  beforeAll(async () => {
    world = await pageWorldWith({
      pools: {
        [pool]: { count: 2_000 },
        single: { count: 1 },
        room: {
          place: "least-used",
          members: { "esx-1": { capacity: { vcpus: 96, memory: 1_024 } } },
        },
      },
    });
    const ask = (who: string, name: string, more: object = {}) =>
      world.client.ask({ holder: who, items: [{ pool: name, ...more }], ttl: "10m" });
    await ask(holder, pool);
    await ask(holder, "single");
    await ask(`${holder}2`, "single");
    await ask(holder, "room", { amount: { vcpus: 90, memory: 1_000 } });
    await ask(`${holder}3`, "room", { amount: { vcpus: 64, memory: 256 } });
    const ending = await world.client.ask({
      ...{ holder: `${holder}4`, items: [{ pool }], ttl: "59m59s" },
    });
    const id = ending.granted ? ending.lease.id : "";
    await world.client.revoke(id, { by: "ada", reason: "It hangs" });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each([
    ["all pools", "/", "table.pools tbody th a"],
    ["the queue", "/queue?group=none", ".queue td.starts"],
    ["the leases", "/leases?group=none", ".leases tbody th a"],
    ["a pool", "/pools/single", ".queue td.starts"],
    ["a shared pool", "/pools/room", ".host-holders a"],
  ])("shows names and numbers whole: %s", async (_, path, sign) => {
    const page = await world.open(path);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 860 });
      await page.locator(sign).first().waitFor();
      const of = { message: `of ${width} pixels` };
      await expect.poll(() => page.evaluate<string[]>(cutOff), of).toEqual([]);
      // Charts follow the window a moment later.
      await expect.poll(() => page.evaluate<string[]>(tooWide), of).toEqual([]);
    }
    await page.close();
  });

  test("has a way to every view, and to what is in the corner of a wide one", async () => {
    const page = await world.open("/queue", { viewport: { width: 720, height: 860 } });
    for (const width of [1_000, 720, 390]) {
      await page.setViewportSize({ width, height: 860 });
      await page.getByRole("button", { name: "Menu" }).click();
      const menu = page.locator("#menu");
      await menu.getByRole("button", { name: "Theme: auto" }).waitFor();
      await menu.getByRole("link", { name: "Audit" }).click();
      await heading(page, "Audit");
      expect(await menu.isVisible()).toBe(false);
      await page.goBack();
      await heading(page, "Queue");
    }
    await page.close();
  });
});

function heading(page: Page, name: string): Promise<void> {
  return page.getByRole("heading", { level: 1, name }).waitFor();
}
