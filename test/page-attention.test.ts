/** What needs somebody: on the overview first, and the same in `berth status`. */
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { isAmber, sharedWorld } from "./page-world.ts";

describe.skipIf(chromiumPath === undefined)("the overview", () => {
  const world = sharedWorld({
    "b-account": { members: ["acc-1", "acc-2"] },
    "a-paced": { count: 5, pace: { every: "1h" } },
    "c-room": { place: "pack", members: { "host-1": { capacity: { vcpus: 8, memory: 64 } } } },
    "d-free": { count: 3 },
  });
  const ask = (pool: string, amount?: Record<string, number>) =>
    world().client.ask({
      holder: "ci/1",
      items: [{ pool, ...(amount && { amount }) }],
      ttl: "10m",
    });
  const names = (page: Awaited<ReturnType<ReturnType<typeof world>["open"]>>) =>
    page.locator("table.pools tbody th a").allTextContents();

  test("says in one quiet line that all is well", async () => {
    const page = await world().open("/");
    await page.getByRole("heading", { name: "All is well" }).waitFor();
    expect(await page.locator(".trouble").count()).toBe(0);
    const { stderr } = await world().server.done(["status"]);
    expect(stderr).toBe("");
  });

  test("shows trouble as it comes, with what to do, and as berth status does", async () => {
    const page = await world().open("/");
    await page.getByRole("heading", { name: "All is well" }).waitFor();
    await world().client.changeResource("acc-2", { state: "quarantined", note: "disk broken" });
    const trouble = page.locator(".trouble", { hasText: "1 resource is quarantined" });
    await trouble.getByText("disk broken").waitFor();
    await trouble.getByText("fix the cause, then free the resource").waitFor();
    const { stderr } = await world().server.done(["status"]);
    expect(stderr).toMatch(/^1 resource is quarantined, for \S+\n {2}acc-2: disk broken\n {2}Read/);
    await trouble.getByRole("link", { name: "acc-2" }).click();
    await page.getByRole("heading", { name: "acc-2" }).waitFor();
    await world().client.changeResource("acc-2", { state: "free" });
    await page.goBack();
    await page.getByRole("heading", { name: "All is well" }).waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("says what requests wait for although something is free", async () => {
    for (let asked = 0; asked < 3; asked++) await ask("a-paced");
    await ask("c-room", { vcpus: 6, memory: 8 });
    await ask("c-room", { vcpus: 6, memory: 8 });
    const page = await world().open("/");
    const cell = (pool: string) => page.locator("tr", { hasText: pool }).locator(".why-cell");
    await cell("a-paced")
      .getByText(/^pace one every \d+/)
      .waitFor();
    await cell("c-room").getByText("capacity", { exact: true }).waitFor();
    expect(await cell("d-free").textContent()).toBe("");
    // A shared pool has the part of its fullest dimension in use, and all amounts at hand.
    const room = page.locator("tr", { hasText: "c-room" });
    // Attention names none of these pools.
    const most = page.locator("tr", { hasText: "a-paced" }).locator(".spark-and-most small");
    await most.getByText("2", { exact: true }).waitFor();
    expect(await isAmber(page, ".spark-and-most small")).toBe(false);
    await room.getByText("75 %", { exact: true }).waitFor();
    await room.getByTitle("6 of 8 vcpus, 8 of 64 memory", { exact: true }).waitFor();
  });

  test("keeps the order that the reader chose, unless a link has another one", async () => {
    const page = await world().open("/");
    await page.locator("table.pools").waitFor();
    expect(await names(page)).toEqual(["a-paced", "b-account", "c-room", "d-free"]);
    await page.getByLabel("Order").selectOption("Most free");
    await expect.poll(() => names(page)).toEqual(["a-paced", "d-free", "b-account", "c-room"]);
    await page.goto(new URL("/", world().server.url).href);
    await page.locator("table.pools").waitFor();
    expect(await names(page)).toEqual(["a-paced", "d-free", "b-account", "c-room"]);
    await page.goto(new URL("/?sort=usage", world().server.url).href);
    await expect.poll(async () => (await names(page))[0]).toBe("c-room");
  });

  test("shortens a trouble to one line, and shows more on demand", async () => {
    const { client } = world();
    await client.changeResource("acc-2", { state: "quarantined", note: "disk broken" });
    const page = await world().open("/");
    const trouble = page.locator(".trouble", { hasText: "1 resource is quarantined" });
    await trouble.getByRole("button", { name: "Less about" }).click();
    await trouble.locator(".trouble-first").getByText("disk broken").waitFor();
    expect(await trouble.getByText("fix the cause").isVisible()).toBe(false);
    const box = await trouble.boundingBox();
    expect(box?.height).toBeLessThan(40);
    await trouble.getByRole("button", { name: "More about" }).click();
    await trouble.getByText("fix the cause").waitFor();
    await client.changeResource("acc-2", { state: "free" });
  });

  test("sums up the pools of the filter", async () => {
    const page = await world().open("/?q=d-free");
    const figure = page.getByLabel("The pools below together").locator("div").first();
    await expect.poll(() => figure.textContent()).toBe("Resources3 of 10");
  });

  test("explains every colour of its bars", async () => {
    await world().client.changeResource("acc-1", { drained: true });
    const page = await world().open("/");
    const legend = page.locator(".legend");
    for (const word of ["held", "drained", "free", "most waiting at once"]) {
      await legend.getByText(word, { exact: true }).first().waitFor();
    }
    await world().client.changeResource("acc-1", { drained: false });
  });

  test("names the other pool that requests wait for, where this one has free resources", async () => {
    const items = [{ pool: "a-paced" }, { pool: "d-free" }];
    await world().client.ask({ holder: "ci/2", items, ttl: "10m" });
    const page = await world().open("/");
    const cell = page.locator("tr", { hasText: "d-free" }).locator(".why-cell");
    await cell.getByText("a-paced first").waitFor();
    expect(world().complaints).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)("choices in a list", () => {
  const world = sharedWorld({ first: { count: 1 }, second: { count: 2 }, third: { count: 3 } });

  test("are steps that Back undoes, and typed letters are none", async () => {
    const page = await world().open("/queue");
    await page.getByRole("link", { name: "Pools", exact: true }).click();
    const names = () => page.locator("table.pools tbody th a").allTextContents();
    const order = page.getByLabel("Order");
    await expect.poll(names).toEqual(["first", "second", "third"]);
    await page.getByRole("button", { name: "Nothing free" }).click();
    await page.getByText("No pool matches").waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await order.selectOption("Most free");
    await expect.poll(names).toEqual(["third", "second", "first"]);
    await page.getByRole("button", { name: "Pool", exact: true }).click();
    await expect.poll(names).toEqual(["first", "second", "third"]);
    await page.getByLabel("Filter pools").pressSequentially("ir");
    await expect.poll(names).toEqual(["first", "third"]);
    await page.goBack();
    await expect.poll(names).toEqual(["third", "second", "first"]);
    await page.goBack();
    await expect.poll(() => order.inputValue()).toBe("trouble");
    await page.goBack();
    await page.getByText("No pool matches").waitFor();
    await page.goBack();
    await expect.poll(names).toEqual(["first", "second", "third"]);
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Queue" }).waitFor();
    expect(world().complaints).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)("the overview of many pools", () => {
  const idle = Array.from({ length: 12 }, (_, index) => [`idle-${index}`, { count: 1 }]);
  const world = sharedWorld({ ...Object.fromEntries(idle), used: { count: 2 } });
  const names = (page: Awaited<ReturnType<ReturnType<typeof world>["open"]>>) =>
    page.locator("table.pools tbody th a").allTextContents();

  test("has one row for all that are idle, unless somebody looks for them", async () => {
    await world().client.ask({ holder: "ci/1", items: [{ pool: "used" }], ttl: "10m" });
    const page = await world().open("/");
    await expect.poll(() => names(page)).toEqual(["used"]);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await names(page)).length).toBe(13);
    expect(new URL(page.url()).search).toBe("?idle=show");
    await page.getByRole("button", { name: "Hide 12 idle pools" }).click();
    await page.getByRole("button", { name: "Show 12 idle pools" }).waitFor();
    await page.getByLabel("Filter pools").fill("idle-1");
    await expect.poll(() => names(page)).toEqual(["idle-1", "idle-10", "idle-11"]);
    await page.getByLabel("Filter pools").fill("");
    await page.getByLabel("Order").selectOption("Name");
    await expect.poll(async () => (await names(page)).length).toBe(13);
    expect(world().complaints).toEqual([]);
  });

  test("moves no row under the pointer", async () => {
    const page = await world().open("/?sort=size");
    await expect.poll(async () => (await names(page))[0]).toBe("used");
    await page.locator("table.pools tbody").hover();
    await world().client.ask({ holder: "ci/2", items: [{ pool: "idle-5" }], ttl: "10m" });
    const row = page.locator("tr", { has: page.getByRole("link", { name: "idle-5" }) });
    await row.getByText("1/1").waitFor();
    expect((await names(page))[0]).toBe("used");
    await page.mouse.move(0, 0);
    await expect.poll(async () => (await names(page))[0]).toBe("idle-5");
    expect(world().complaints).toEqual([]);
  });
});
