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
    timed: { count: 3, hold: "20m", lockDelay: "0s" },
    taken: { count: 1, hold: "1s", lockDelay: "0s" },
    brief: { count: 1, lifetime: "10m", lockDelay: "0s" },
    spare: { count: 1, lockDelay: "0s" },
    left: { count: 1 },
    right: { count: 1 },
    cleared: { count: 1 },
    twice: { count: 1 },
    tapped: { count: 1 },
  });
  const ask = (holder: string, pool: string, labels: Record<string, string> = {}) =>
    world().client.ask({ holder, items: [{ pool }], ttl: "10m", labels });
  const idOf = (asked: Awaited<ReturnType<typeof ask>>) =>
    asked.granted ? asked.lease.id : asked.request.id;
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
    // The longest wait is first.
    expect(await groups.allTextContents()).toEqual([
      expect.stringMatching(/^aws 1, longest wait \d+/),
      expect.stringMatching(/^gcp 1, longest wait \d+/),
    ]);
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
      .getByText(/^none yet · due in 3m/)
      .waitFor();
    // A lease that was a request is in the list of leases, whichever address led to it.
    const [{ id } = { id: "" }] = await world().client.everyLease({ pool: "aws" });
    const other = await world().open(`/requests/${id}`);
    await other.locator('.top nav a[aria-current="page"]', { hasText: "Leases" }).waitFor();
    expect(new URL(other.url()).pathname).toBe(`/leases/${id}`);
    const [waits] = await world().client.everyRequest({ pool: "aws" });
    await other.goto(new URL(`/leases/${waits?.id}`, world().server.url).href);
    await other.locator('.top nav a[aria-current="page"]', { hasText: "Queue" }).waitFor();
    expect(await saved(page)).toContain(",'=cmd(),"); // A spreadsheet must not run it.
    expect(world().complaints).toEqual([]);
  });

  test("shows which leases end next, which are old and which are silent", async () => {
    await ask("ends/hold", "timed");
    await ask("ends/life", "brief");
    const page = await world().open("/leases?q=ends/");
    const tiles = page.getByLabel("Leases in numbers").locator("> div");
    const tile = (label: string) => tiles.filter({ hasText: label });
    await tile("Next fixed end").getByText("ends/life").waitFor();
    await tile("Oldest").getByText("ends/hold").waitFor();
    await tile("Silent").getByText("nobody misses heartbeats").waitFor();
    // The tiles count what the list shows.
    const all = (await world().client.everyLease({})).length;
    expect(await tiles.first().locator("dd").textContent()).toBe(`2 of ${all}`);
    const rows = page.locator(".leases tr[data-row]");
    await rows
      .filter({ hasText: "ends/hold" })
      .getByText(/^auto-release in (19|20)m/)
      .waitFor();
    await rows
      .filter({ hasText: "ends/life" })
      .getByText(/^in (9|10)m.* max lifetime$/)
      .waitFor();
    // A tile sorts the list by what it shows, and keeps the filter.
    await tile("Next fixed end").getByRole("link").click();
    await expect.poll(() => page.getByLabel("Order").inputValue()).toBe("ends");
    expect(new URL(page.url()).search).toBe("?q=ends%2F&sort=ends&group=none");
    await expect
      .poll(() => rows.locator("th").allTextContents())
      .toEqual(["ends/life", "ends/hold"]);
    // Those of silent holders, as the tile counts them.
    await page.getByRole("button", { name: "Silent" }).click();
    await page.getByText("No lease matches").waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByLabel("Order").selectOption("Oldest first");
    await expect
      .poll(() => rows.locator("th").allTextContents())
      .toEqual(["ends/hold", "ends/life"]);
    expect(world().complaints).toEqual([]);
  });

  test("keeps the order of the groups while the pointer is in the list", async () => {
    await ask("order/first/1", "left");
    await ask("order/second/1", "right");
    const longest = await ask("order/first/2", "left");
    await ask("order/second/2", "right");
    await ask("order/first/3", "left");
    if (longest.granted) throw new Error("It is held");
    const page = await world().open("/queue?q=order");
    const groups = page.locator("tr.group th a");
    const names = async () => (await groups.allTextContents()).join(" ");
    await expect.poll(names).toBe("left right");
    await page.locator(".queue tbody tr[data-row]").first().hover();
    const remove = { by: "ada", reason: "a test" };
    await world().client.removeFromQueue(longest.request.id, remove);
    await page.getByRole("link", { name: "order/first/2" }).waitFor({ state: "detached" });
    expect(await names()).toBe("left right");
    await page.mouse.move(0, 0);
    await ask("order/first/4", "left");
    await expect.poll(names).toBe("right left");
    expect(world().complaints).toEqual([]);
  });

  test("clears a filter that finds no lease, and counts nothing then", async () => {
    await ask("clears/1", "cleared");
    const page = await world().open("/leases?q=zzzz");
    await page.getByText("No lease matches").waitFor();
    const tiles = page.getByLabel("Leases in numbers").locator("div");
    expect(await tiles.filter({ hasText: "Next fixed end" }).textContent()).toBe("Next fixed end–");
    expect(await tiles.filter({ hasText: "Silent" }).textContent()).toBe("Silent–");
    await page.getByRole("button", { name: "Clear it" }).click();
    await page.locator(".leases", { hasText: "clears/1" }).waitFor();
    await page.getByRole("link", { name: "cleared", exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe("");
  });

  test("does not draw a claim as held and as released", async () => {
    const held = await ask("both/1", "twice");
    if (!held.granted) throw new Error("It is free");
    const { id, claims } = held.lease;
    const page = await world().open("/", {});
    // The history is ahead of what the page has read of the lease.
    const entry = { id, claim: claims[0]?.id, pool: "twice", resource: "twice-1", how: "released" };
    const times = {
      holder: "both/1",
      grantedAt: held.lease.grantedAt,
      endedAt: held.lease.grantedAt,
    };
    const more = { labels: {}, waitSeconds: 0, holdSeconds: 0, state: "free", amount: null };
    const items = [{ ...entry, ...times, ...more }];
    await page.route("**/v1/history?*", (route) => route.fulfill({ json: { items, next: null } }));
    let reads = 0;
    page.on("request", (request) => {
      if (request.url().includes(`/v1/requests/${id}`)) reads++;
    });
    await page.goto(new URL(`/leases/${id}`, world().server.url).href);
    await page.locator(".claims", { hasText: "twice-1" }).waitFor();
    await expect.poll(() => reads).toBeGreaterThan(1);
    expect(await page.getByText("Held before").count()).toBe(0);
  });

  test("opens a row by a tap beside its name", async () => {
    await ask("tap/1", "tapped");
    const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
    const page = await world().open("/leases?q=tap/", phone);
    const row = page.locator(".leases tr[data-row]");
    await row.waitFor();
    await row.getByRole("link", { name: "tapped-1" }).tap();
    await page.getByRole("heading", { level: 1, name: "tapped-1" }).waitFor();
    await page.goBack();
    await row.locator(".held-for").tap({ force: true });
    await page.getByRole("heading", { level: 1, name: "tap/1" }).waitFor();
  });

  test("says what holds a queue up, and who has waited longest", async () => {
    await ask("order/first/1", "brief");
    for (const holder of ["late/1", "late/2"]) await ask(holder, "brief");
    const page = await world().open("/queue?q=late/");
    const tiles = page.getByLabel("The queue in numbers").locator("> div");
    await tiles.filter({ hasText: "Most frequent cause" }).getByText("a free resource").waitFor();
    await tiles.filter({ hasText: "Longest wait" }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "late/1" }).waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("shows what a lease held before its pool took it back", async () => {
    const items = [{ pool: "taken" }, { pool: "quick" }];
    const asked = await world().client.ask({ holder: "both/1", items, ttl: "10m" });
    if (!asked.granted) throw new Error("It is granted at once");
    const page = await world().open(`/leases/${asked.lease.id}`);
    await page.getByRole("heading", { name: "Held before 1" }).waitFor();
    const row = page.locator(".claims tr", { hasText: "taken-1" });
    await row.getByText("auto-released").waitFor();
    await page.getByRole("heading", { name: "Holds 1" }).waitFor();
    // It goes on without anything, and no longer holds.
    const one = await ask("both/2", "taken");
    await page.goto(new URL(`/leases/${idOf(one)}`, world().server.url).href);
    await page.getByText("open, holds nothing").waitFor();
    await page.getByLabel("The lease in numbers").getByText("until").waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("keeps trouble among the events, and stops for somebody who reads below", async () => {
    const { client } = world();
    const page = await world().open("/events?type=trouble");
    await client.changeResource("timed-3", { state: "quarantined", reason: "disk", by: "ada" });
    const trouble = page.locator(".events li", { hasText: "timed-3 was quarantined" });
    await trouble.waitFor();
    expect(await page.locator(".events li.tone-plain").count()).toBe(0);
    // The number leads to the list that it counts.
    const other = await world().open("/out");
    await other.getByLabel("Out of service, by state").getByRole("link").first().click();
    await other.locator("#out-quarantined:target").waitFor();
    await other.getByRole("link", { name: "timed-3" }).click();
    await other.getByRole("heading", { name: "Quarantined by ada: disk" }).waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    for (let count = 0; count < 40; count++) {
      await client.changeResource("timed-3", { note: `note ${count}`, by: "ada" });
    }
    await page.getByText("note 39").waitFor();
    await page.mouse.wheel(0, 600);
    await page.getByRole("button", { name: "Back to the newest" }).waitFor();
    await client.changeResource("timed-3", { note: "the last one", by: "ada" });
    await page.getByRole("button", { name: "Back to the newest (1 new)" }).click();
    await page.getByText("the last one").waitFor();
    await expect.poll(() => page.evaluate("window.scrollY")).toBe(0);
    expect(world().complaints).toEqual([]);
  });

  test("folds what happens all the time into rows that open, and filters events by pool", async () => {
    const { client } = world();
    const page = await world().open("/events?pool=quick");
    for (let count = 0; count < 12; count++) {
      const done = await ask(`fold/${count}`, "quick");
      if (done.granted) await client.releaseOnce({ ...done.lease, token: done.lease.token ?? "" });
    }
    await ask("other/1", "timed");
    const row = page.locator(".events > .fold", { hasText: /\d+ leases granted in quick/ }).first();
    await row.getByText("leases granted in quick").click();
    await row
      .locator("li", { hasText: /fold\/\d+ gets quick-/ })
      .nth(2)
      .waitFor();
    expect(await page.locator(".events", { hasText: "timed" }).count()).toBe(0);
    // Somebody reads it, so it stays.
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "One by one" }).click();
    await page.locator(".events > li", { hasText: "fold/11 releases quick-" }).waitFor();
    expect(await page.locator(".fold").count()).toBe(0);
    await page.locator(".order", { hasText: /^Pool/ }).locator("select").selectOption("all");
    await page.locator(".events > li", { hasText: "other/1 gets timed-" }).waitFor();
    expect(new URL(page.url()).search).toBe("?way=each");
    expect(world().complaints).toEqual([]);
  });

  test("searches events on the server, and loads older ones", async () => {
    const { client } = world();
    await client.changeResource("timed-3", { note: "needle in the hay", by: "ada" });
    for (let count = 0; count < 210; count++) {
      await client.changeResource("timed-3", { note: `hay ${count}`, by: "ada" });
    }
    const page = await world().open("/events?way=each");
    await page.getByText("hay 209").waitFor();
    const needle = page.locator(".events li", { hasText: "needle in the hay" });
    expect(await needle.count()).toBe(0);
    await page.getByLabel("Search all events").fill("NEEDLE");
    await needle.waitFor();
    await expect.poll(() => page.locator(".events li").count()).toBe(1);
    // What happens now is there too, if it matches.
    await client.changeResource("timed-3", { note: "another needle", by: "ada" });
    await client.changeResource("timed-3", { note: "hay", by: "ada" });
    await page.getByText("another needle").waitFor();
    expect(await page.locator(".events li").count()).toBe(2);
    await page.getByLabel("Search all events").fill("");
    await page.getByText("hay 209").waitFor();
    await page.getByRole("button", { name: "Load older" }).click();
    await needle.first().waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await needle.nth(1).waitFor({ state: "detached" });
    expect(world().complaints).toEqual([]);
  });

  test("a menu on a phone has the keys and the API, and lists are short at first", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const page = await world().open("/events?way=each&type=resource-", phone);
    await page.getByRole("button", { name: /^Show more/ }).waitFor();
    expect(await page.locator(".events li").count()).toBe(20);
    await page.getByRole("button", { name: /^Show more/ }).click();
    await page.locator(".events li").nth(20).waitFor();
    expect(await page.getByRole("link", { name: "API" }).count()).toBe(0);
    await page.getByRole("button", { name: "Menu" }).click();
    expect(await page.getByRole("link", { name: "API" }).getAttribute("href")).toBe("/docs");
    await page.getByRole("button", { name: "Keys" }).click();
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("the history on a phone begins with ten past leases of two lines each", async () => {
    const { client } = world();
    for (let count = 0; count < 12; count++) {
      const done = await ask(`phone/${count}`, "spare");
      if (done.granted) await client.releaseOnce({ ...done.lease, token: done.lease.token ?? "" });
    }
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const page = await world().open("/history", phone);
    const rows = page.locator("table.past tbody tr");
    await expect.poll(() => rows.count()).toBe(10);
    // Who and when stand side by side.
    const tops = await rows.first().evaluate((row) => {
      const parts = [...row.querySelectorAll("th, .when")];
      return parts.map((part) => Math.round(part.getBoundingClientRect().top));
    });
    expect(new Set(tops).size).toBe(1);
    expect(await rows.first().locator(".optional").isVisible()).toBe(false);
    expect(world().complaints).toEqual([]);
  });

  test("a resource shows on its strip that it was in quarantine, and its pool that it is", async () => {
    const { client } = world();
    await client.changeResource("spare-1", { state: "quarantined", reason: "test" });
    const page = await world().open("/pools/spare");
    // Its pool says it too, near its figures.
    const out = page.getByRole("list", { name: "Out of service" });
    await out.getByText(/^quarantined/).waitFor();
    await client.changeResource("spare-1", { state: "free", reason: "test" });
    await out.waitFor({ state: "detached" });
    await page.goto(new URL("/resources/spare-1", page.url()).href);
    await page.locator(".lane .how-quarantined").waitFor({ state: "attached" });
    await page.locator(".lane .legend").getByText("quarantined").waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("zooms into a chart by dragging, and the address has the range", async () => {
    const { client } = world();
    const done = await ask("ci/9", "quick");
    if (done.granted) await client.releaseOnce({ ...done.lease, token: done.lease.token ?? "" });
    const page = await world().open("/history");
    await page.getByText(/^since .*; numbers are of the whole time; times in /).waitFor(); // No day with two dots.
    const plot = page.locator(".chart .u-over").first();
    const box = await plot.boundingBox();
    if (box === null) throw new Error("There is no chart");
    const at = (part: number) => [box.x + box.width * part, box.y + box.height / 2] as const;
    await page.mouse.move(...at(0.5));
    // All charts read the same moment.
    await expect.poll(() => page.locator(".chart-tip:visible").count()).toBe(3);
    const tip = page.locator(".chart-tip").first().locator("*");
    // Each has its time, as their steps differ, and nothing but the plot is covered.
    expect(await page.locator(".chart-tip:visible strong").count()).toBe(3);
    const covered = await page.locator(".chart-tip").first().boundingBox();
    const bottom = (covered?.y ?? 0) + (covered?.height ?? 0);
    expect(covered?.y).toBeGreaterThanOrEqual(box.y - 1);
    expect(bottom).toBeLessThanOrEqual(box.y + box.height + 1);
    expect(covered?.x).toBeGreaterThanOrEqual(box.x - 1);
    expect((covered?.x ?? 0) + (covered?.width ?? 0)).toBeLessThanOrEqual(box.x + box.width + 1);
    // Of all pools together nine in ten hardly ever wait, so that curve is left out.
    expect(await tip.allTextContents()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\d\d:\d\d(:\d\d)?–\d\d:\d\d(:\d\d)?$/),
        expect.stringMatching(/^longest: /),
        expect.stringMatching(/^99 in 100 within: /),
      ]),
    );
    await page.mouse.down();
    await page.mouse.move(...at(0.9), { steps: 4 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Reset zoom" }).waitFor();
    const { searchParams } = new URL(page.url());
    const seconds = Number(searchParams.get("to")) - Number(searchParams.get("from"));
    // A part of a window that begins with the data, of full minutes: everybody sees the same bars.
    expect(seconds).toBeGreaterThanOrEqual(60);
    expect([Number(searchParams.get("from")) % 60, seconds % 60]).toEqual([0, 0]);
    expect(seconds).toBeLessThan(300);
    await page.getByText(/numbers are of \d\d:\d\d:\d\d–\d\d:\d\d:\d\d; times in /).waitFor();
    await page.getByText(/^Those that ended \d\d:\d\d:\d\d–/).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await page.getByText(/^since .*; numbers are of the whole time; times in /).waitFor();

    // Past leases are found by a part of a word, and saved.
    await page.getByRole("heading", { name: "Compare weeks" }).waitFor();
    await page
      .getByText(
        /^There is data since .*The comparison needs more than 7 days: it appears here in /,
      )
      .waitFor();
    await page.getByLabel("Filter by holder").fill("I/9");
    await page.locator(".past tbody tr", { hasText: "ci/9" }).waitFor();
    expect(await saved(page)).toMatch(/^id,holder,.*\r\n[^,]+,ci\/9,/);
    await page.getByLabel("Filter by holder").fill("nobody");
    await page.getByText("No past lease matches").waitFor();
    expect(world().complaints).toEqual([]);
  });
});
