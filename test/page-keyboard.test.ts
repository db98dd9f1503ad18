/** The five commonest tasks with the keyboard alone. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

describe.skipIf(chromiumPath === undefined)("with the keyboard alone", () => {
  const world = sharedWorld({
    account: { members: ["acc-1", "acc-2"] },
    other: { count: 1 },
    single: { members: ["only-1"], lockDelay: "0s" },
    rows: { members: ["row-1", "row-2", "row-3", "row-4", "row-5", "row-6"] },
    full: { members: ["last-1"] },
    gone: { members: ["gone-1", "gone-2", "gone-3"] },
  });
  const ask = (holder: string, pool: string) =>
    world().client.ask({ holder, items: [{ pool }], ttl: "10m" });
  const heading = (page: Page, name: string) =>
    page.getByRole("heading", { level: 1, name }).waitFor();
  const focusedText = (page: Page) =>
    page.evaluate<string>("document.activeElement?.textContent ?? ''");
  /** Presses Tab until the focus is on the button. */
  const tabTo = async (page: Page, name: string) => {
    for (let steps = 0; steps < 60; steps++) {
      if ((await focusedText(page)) === name) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not reach ${name}`);
  };
  const answer = async (page: Page) => {
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("ada"); // The first field has the focus.
    await page.keyboard.press("Tab");
    await page.keyboard.type("for a test");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };

  test("a person learns why a job waits", async () => {
    await ask("ci/1", "single");
    await ask("ci/2", "single");
    const page = await world().open("/");
    await page.keyboard.press("g");
    await page.keyboard.press("q");
    await page.locator(".queue", { hasText: "ci/2" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await heading(page, "ci/2");
    await page.locator(".callout", { hasText: /Why it waits .*single/ }).waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("a person finds who holds a resource", async () => {
    const page = await world().open("/");
    await page.keyboard.press("/");
    await page.keyboard.type("only-1");
    await page.getByRole("option", { name: /only-1/ }).waitFor();
    await page.keyboard.press("Enter");
    await heading(page, "only-1");
    await tabTo(page, "ci/1");
    await page.keyboard.press("Enter");
    await heading(page, "ci/1");
  });

  test("an Enter that is faster than the answer opens what is found first", async () => {
    const page = await world().open("/");
    await page.keyboard.press("/");
    await page.keyboard.type("account");
    await page.keyboard.press("Enter");
    await heading(page, "account");
    expect(new URL(page.url()).pathname).toBe("/pools/account");
  });

  test("a person opens a pool by search, and another view by its keys", async () => {
    const page = await world().open("/");
    await page.keyboard.press("/");
    await page.keyboard.type("no such thing");
    await page.locator(".found", { hasText: "Nothing found" }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("acc");
    const options = page.getByRole("option");
    await options.filter({ hasText: "acc-1" }).waitFor();
    await options
      .filter({ hasText: "pool account" })
      .and(page.locator("[aria-selected=true]"))
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await heading(page, "account");
    expect(new URL(page.url()).pathname).toBe("/pools/account");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await heading(page, "Audit");
    expect(world().complaints).toEqual([]);
  });

  test("an operator ends a lease with a reason", async () => {
    const held = await ask("ends/1", "other");
    if (!held.granted) throw new Error("It is free");
    const page = await world().open("/leases?group=none&q=ends");
    await page.locator(".leases", { hasText: "ends/1" }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await heading(page, "ends/1");
    await tabTo(page, "End lease");
    await page.keyboard.press("Enter");
    await answer(page);
    await page.locator("h1 .chip", { hasText: "ending" }).waitFor();
    const { items } = await world().client.pastEvents({ id: held.lease.id });
    expect(items.find(({ type }) => type === "lease-revoked")).toMatchObject({
      reason: { by: "ada", why: "for a test" },
    });
  });

  test("an operator removes a request from the queue, and the name is remembered", async () => {
    const page = await world().open("/queue");
    await page.locator(".queue", { hasText: "ci/2" }).waitFor();
    await page.keyboard.press("j");
    await tabTo(page, "Remove from queue");
    await page.keyboard.press("Enter");
    await answer(page);
    await page.getByText("The queue is empty").waitFor();
    expect(await page.evaluate("localStorage.getItem('berth.operator')")).toBe("ada");
  });

  test("an operator drains a resource", async () => {
    const page = await world().open("/resources/acc-1");
    await heading(page, "acc-1");
    await tabTo(page, "Drain");
    await page.keyboard.press("Enter");
    await answer(page);
    await page.locator("h1 .chip", { hasText: "drained" }).waitFor();
    // The button that came in its place has the focus.
    await page.locator("button:focus", { hasText: "Undrain" }).waitFor();
  });

  test("the focus goes to the row that comes in place of one that an action took away", async () => {
    for (const name of ["gone-1", "gone-2", "gone-3"])
      await world().client.changeResource(name, { drained: true, by: "ada", reason: "a test" });
    const page = await world().open("/out?q=gone-");
    const rows = page.locator("table.out [data-row]");
    await expect.poll(() => rows.count()).toBe(3);
    await rows.filter({ hasText: "gone-1" }).getByRole("button", { name: "Undrain" }).focus();
    await page.keyboard.press("Enter");
    await answer(page);
    await rows.nth(2).waitFor({ state: "detached" });
    await page.locator("a:focus", { hasText: "gone-2" }).waitFor();
    // Also if somebody else took it away; but not from a person who has clicked beside it.
    await world().client.changeResource("gone-2", { drained: false, by: "bob", reason: "done" });
    await page.locator("a:focus", { hasText: "gone-3" }).waitFor();
    await page.getByRole("heading", { level: 1 }).click();
    await world().client.changeResource("gone-3", { drained: false, by: "bob", reason: "done" });
    await rows.first().waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.tagName")).not.toBe("A");
  });

  test("j steps through trouble and pools on the overview, Enter leads from a filter to its rows", async () => {
    const note = "it failed";
    await world().client.changeResource("acc-2", { state: "quarantined", note });
    const page = await world().open("/");
    await page.locator(".trouble", { hasText: "quarantined" }).waitFor();
    await page.keyboard.press("j");
    expect(await focusedText(page)).toBe("Show it");
    await page.keyboard.press("j");
    expect(await focusedText(page)).toBe("account");
    await page.keyboard.press("f");
    await page.keyboard.type("row");
    await page.keyboard.press("Enter");
    expect(await focusedText(page)).toBe("rows");
    await page.keyboard.press("g");
    await page.keyboard.press("q");
    await heading(page, "Queue");
    expect(new URL(page.url()).search).toBe("");
    await world().client.changeResource("acc-2", { state: "free" });
  });

  test("Back leads to the link that the list was left by", async () => {
    const page = await world().open("/pools/rows");
    await page.getByRole("link", { name: /^row-5/ }).focus();
    await page.keyboard.press("Enter");
    await heading(page, "row-5");
    await page.goBack();
    await heading(page, "rows");
    await page.locator("a:focus", { hasText: "row-5" }).waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("j goes to the first link of the next row in each list", async () => {
    for (const job of ["row/1", "row/2", "row/3"]) await ask(job, "rows");
    for (const name of ["row-4", "row-5", "row-6"]) {
      await world().client.changeResource(name, { drained: true, by: "ada", reason: "a test" });
    }
    for (const job of ["row/4", "row/5", "row/6", "row/7"]) await ask(job, "full");
    const lists = [
      ["/leases?q=row/", "table.leases tbody [data-row] th a"],
      ["/queue", "table.queue [data-row] th a"],
      ["/out", "table.out [data-row] th a"],
      ["/search?q=row", ".hits [data-row] a"],
      ["/", "table.pools [data-row] th a"],
      ["/pools/rows", "a[data-row]"],
    ] as const;
    for (const [path, links] of lists) {
      const page = await world().open(path);
      await expect.poll(() => page.locator(links).count()).toBeGreaterThan(2);
      const wanted = (await page.locator(links).allTextContents()).slice(0, 3);
      const seen: string[] = [];
      for (let row = 0; row < 3; row++) {
        await page.keyboard.press("j");
        seen.push(await focusedText(page));
      }
      expect(seen, path).toEqual(wanted);
      await page.keyboard.press("k");
      expect(await focusedText(page), path).toBe(wanted[1]);
    }
  });

  test("j goes along events, and the list of keys names Tab", async () => {
    const page = await world().open("/events?way=each&type=resource-");
    await expect.poll(() => page.locator(".events > li").count()).toBeGreaterThan(2);
    const wanted = await page.locator(".events > li .words > a:first-child").allTextContents();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    expect(await focusedText(page)).toBe(wanted[1]);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Tab").waitFor();
  });

  test("a person changes the order of the pools, filters them, and lists the keys", async () => {
    const page = await world().open("/");
    await page.locator("table.pools").waitFor();
    await page.keyboard.press("f");
    await page.keyboard.type("sing");
    await expect.poll(() => page.locator("table.pools tbody tr").count()).toBe(1);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keys" });
    await keys.getByText("next row").waitFor();
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });
    expect(world().complaints).toEqual([]);
  });
});
