/** Names as long as the API allows, without a place to break: no view is wider than the window. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { pageWorldWith, type World } from "./page-world.ts";

const long = (begin: string, end = "") =>
  `${begin}${"x".repeat(250 - begin.length - end.length)}${end}`;
const space = long("space");
const member = long("member");
const label = { branch: long("branch") };

describe.skipIf(chromiumPath === undefined)("the page with names of 250 letters", () => {
  let world: World;
  const paths: Record<string, string> = {
    overview: "/",
    pool: "/pools/single",
    "shared pool": "/pools/room",
    "pool with a limit": "/pools/part",
    resource: "/resources/bad",
    "resource with a long name": `/resources/${member}`,
    host: "/resources/room-1",
    queue: "/queue",
    "queue in one list": "/queue?group=none",
    "queue by space": "/queue?group=space",
    leases: "/leases",
    "leases in one list": "/leases?group=none",
    "leases by space": "/leases?group=space",
    "out of service": "/out",
    spaces: "/spaces",
    events: "/events",
    audit: "/audit?action=all",
    history: "/history",
    search: "/search?q=xxx",
  };
  const leased: Record<string, string> = {};

  beforeAll(async () => {
    world = await pageWorldWith({
      pools: {
        single: { count: 1 },
        room: {
          place: "least-used",
          members: { "room-1": { capacity: { vcpus: 96, memory: 512 } } },
        },
        out: { members: ["bad", "drained", member] },
        capped: { count: 2 },
        whole: { limit: 1 },
        part: { parent: "whole", count: 3 },
      },
      auth: { anonymous: { space, role: "operator" } },
      spaces: { [space]: { weight: 2, quota: { capped: 1 } } },
    });
    const { client } = world;
    const ask = (holder: string, pool: string, more: object = {}) =>
      client.ask({
        ...{ holder: long(holder), items: [{ pool, ...more }] },
        ...{ ttl: "10m", labels: label },
      });
    const held = await ask("holds", "single");
    const waits = await ask("waits", "single");
    await ask("waits-too", "single");
    await ask("takes", "room", { amount: { vcpus: 60, memory: 64 } });
    const asks = await ask("asks", "room", { amount: { vcpus: 60 } });
    await ask("parts", "part");
    const limited = await ask("limited", "part");
    const member1 = await ask("member", "out", { resource: member });
    await ask("quota", "capped");
    const over = await ask("over", "capped");
    const done = await ask("done", "part");
    if (!done.granted)
      await client.removeFromQueue(done.request.id, { by: long("ada"), reason: long("why") });
    const note = { note: long("it-failed"), by: long("ada"), reason: long("broken") };
    await client.changeResource("bad", { state: "quarantined", ...note });
    await client.changeResource("drained", { drained: true, ...note });
    const idOf = (one: typeof held) => (one.granted ? one.lease.id : one.request.id);
    leased["lease"] = `/leases/${idOf(held)}`;
    leased["lease of a long name"] = `/leases/${idOf(member1)}`;
    leased["request"] = `/requests/${idOf(waits)}`;
    leased["request of an amount"] = `/requests/${idOf(asks)}`;
    leased["request of a limit"] = `/requests/${idOf(limited)}`;
    leased["request of a quota"] = `/requests/${idOf(over)}`;
    leased["request that is over"] = `/requests/${idOf(done)}`;
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const names = ["lease", "lease of a long name", "request", "request of an amount"];
  names.push("request of a limit", "request of a quota", "request that is over");
  test.each([...Object.keys(paths), ...names])(
    "no view is wider than the window: %s",
    async (name) => {
      const page = await world.open(paths[name] ?? leased[name] ?? "");
      await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
      await expect.poll(() => page.locator(".loading").count(), { timeout: 30_000 }).toBe(0);
      await fits(page);
      await page.close();
    },
  );

  test("a name in a list is cut off, and its title has all of it", async () => {
    const page = await world.open("/leases");
    const link = page.getByRole("link", { name: long("holds") });
    expect(await link.getAttribute("title")).toBe(long("holds"));
    expect(await link.evaluate((node) => node.scrollWidth > node.clientWidth)).toBe(true);
    expect(await page.locator(".leases .name").first().getAttribute("title")).toBe(space);
    await page.close();
  });

  test("nor is a dialog", async () => {
    const page = await world.open(leased["lease"] ?? "");
    await page.getByRole("button", { name: "End lease" }).click();
    await page.getByRole("dialog").waitFor();
    await fits(page, "dialog");
    await page.close();
  });

  test("nor what the search box finds", async () => {
    const page = await world.open("/");
    await page.getByRole("combobox").first().fill("xxx");
    await page.getByRole("option").first().waitFor();
    await fits(page, ".found");
    await page.close();
  });

  /** `main` scrolls by itself in a window of middle width. `more`: what else may be too wide. */
  async function fits(page: Page, more = "main") {
    for (const width of [390, 720, 1_000, 1_360]) {
      await page.setViewportSize({ width, height: 860 });
      const tooWide = () =>
        page.evaluate<number>(`Math.max(...["html", "main", "${more}"].map((selector) => {
          const { scrollWidth, clientWidth } = document.querySelector(selector);
          return scrollWidth - clientWidth;
        }))`);
      // Charts follow the window a moment later.
      await expect.poll(tooWide, { message: `of ${width} pixels` }).toBeLessThanOrEqual(0);
    }
  }
});
