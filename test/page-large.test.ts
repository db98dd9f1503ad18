/** 240 pools and 10,000 resources, with traffic: how much the browser has to do, and how little it must. */
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BerthClient } from "../src/client/berth-client.ts";
import { chromiumPath } from "./chromium.ts";
import { fill, largePools } from "./large-site.ts";
import { pageWorld, type World } from "./page-world.ts";

const pools = largePools();
const largest = "aws-ci-quota-slice";
/** Far above what is needed, far below what ten thousand tiles or a leak would take. */
const elementsMax = 8_000;
const heapBytesMax = 120 * 1024 * 1024;

/** Frames while something goes on: from each to the next, in milliseconds. */
const recorder = `(() => {
  window.frames_ = [];
  let last = performance.now();
  const frame = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
})()`;

/** Of one pool: whoever scrolls through it sees some hundred at a time. */
const tenThousand = { slice: { count: 10_000, lifetime: "4h" }, other: { count: 1 } };

async function measured(page: Page, what: string, work: () => Promise<void>) {
  const session: CDPSession = await page.context().newCDPSession(page);
  const reads: string[] = [];
  const note = (request: { url(): string }) => reads.push(request.url());
  page.on("request", note);
  await page.evaluate(recorder);
  await work();
  page.off("request", note);
  const frames = await page.evaluate<number[]>("window.frames_");
  await session.send("HeapProfiler.collectGarbage");
  const heap = (await session.send("Runtime.getHeapUsage")).usedSize;
  const elements = await page.evaluate<number>("document.getElementsByTagName('*').length");
  frames.sort((a, b) => a - b);
  const at = (share: number) => Math.round(frames[Math.floor((frames.length - 1) * share)] ?? 0);
  const pace = `median ${at(0.5)} ms, 95 in 100 within ${at(0.95)} ms, longest ${at(1)} ms`;
  const size = `${elements} elements, heap ${(heap / 2 ** 20).toFixed(1)} MiB`;
  console.info(`${what}: ${frames.length} frames, ${pace}; ${size}, ${reads.length} reads`);
  return { heap, elements, reads };
}

/** Jobs come and go, as fast as the server takes them. */
async function traffic(client: BerthClient, times: number, poolAt: (time: number) => string) {
  for (let time = 0; time < times; time++) {
    const ask = { holder: `busy/${time}`, items: [{ pool: poolAt(time) }], nowOnly: true };
    const answer = await client.ask(ask).catch(() => undefined);
    if (!answer?.granted) continue;
    await client.releaseOnce({ id: answer.lease.id, token: answer.lease.token ?? "" });
  }
}

describe.skipIf(chromiumPath === undefined)("the page with 240 pools and 10,000 resources", () => {
  let world: World;
  let client: BerthClient;
  beforeAll(async () => {
    world = await pageWorld(pools);
    client = world.client;
    await fill(client, pools);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const names = Object.keys(pools);
  const allOver = (time: number) =>
    time % 2 === 0 ? largest : (names[time % names.length] ?? largest);

  test("draws all pools, and reads them far less often than events arrive", async () => {
    const page = await world.open("/?idle=show");
    await page.locator("table.pools tbody tr").nth(239).waitFor({ state: "attached" });
    const { heap, elements, reads } = await measured(page, "overview under traffic", () =>
      traffic(client, 400, allOver),
    );
    expect(elements).toBeLessThan(elementsMax);
    expect(heap).toBeLessThan(heapBytesMax);
    expect(reads.length).toBeLessThan(200); // Of 800 and more events.
    await page.close();
  });

  test("draws only the visible tiles at every scroll position", async () => {
    const page = await world.open(`/pools/${largest}?free=show`);
    await page.locator(".tile").first().waitFor();
    const scroll = async () => {
      const going = traffic(client, 150, allOver);
      for (let step = 0; step < 60; step++) await page.mouse.wheel(0, 700);
      await going;
    };
    const { heap, elements } = await measured(page, "3,000 tiles scrolled under traffic", scroll);
    expect(elements).toBeLessThan(elementsMax);
    expect(heap).toBeLessThan(heapBytesMax);
    await page.keyboard.press("End");
    await page.locator("[aria-posinset='3000']").waitFor();
    await page.close();
  });

  test("finds one resource of ten thousand", async () => {
    const page = await world.open("/");
    await page.keyboard.press("/");
    await page.keyboard.type("slice-2718");
    await page.getByRole("option", { name: /aws-ci-quota-slice-2718/ }).click();
    await page.getByRole("heading", { level: 1, name: "aws-ci-quota-slice-2718" }).waitFor();
    await page.close();
  });
});

describe.skipIf(chromiumPath === undefined)("the page of one pool with 10,000 resources", () => {
  let world: World;
  let client: BerthClient;
  beforeAll(async () => {
    world = await pageWorld(tenThousand);
    client = world.client;
    const ask = (number: number) =>
      client.ask({ holder: `ci/${number}`, items: [{ pool: "slice" }], ttl: "1h" });
    for (let start = 0; start < 6_000; start += 100)
      await Promise.all(Array.from({ length: 100 }, (_, at) => ask(start + at)));
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("can be scrolled from end to end under traffic, and reads only what has changed", async () => {
    const page = await world.open("/pools/slice?free=show");
    await page.locator(".tile").first().waitFor();
    // Once something has changed on the page, all that came before it has been read.
    const { id } = await client
      .ask({ holder: "first/1", items: [{ pool: "slice" }], ttl: "1h" })
      .then((answer) => (answer.granted ? answer.lease : answer.request));
    await page.getByRole("button", { name: "held 6,001" }).waitFor();
    const scroll = async () => {
      const going = traffic(client, 150, () => "slice");
      for (let step = 0; step < 120; step++) await page.mouse.wheel(0, 1_200);
      await going;
    };
    const { heap, elements, reads } = await measured(page, "10,000 tiles under traffic", scroll);
    expect(elements).toBeLessThan(elementsMax);
    expect(heap).toBeLessThan(heapBytesMax);
    const lists = reads.filter((url) => new URL(url).pathname === "/v1/resources");
    expect(lists.length).toBeGreaterThan(0);
    expect(lists.filter((url) => !new URL(url).searchParams.has("names"))).toEqual([]);
    await page.keyboard.press("End");
    await page.locator("[aria-posinset='10000']").waitFor();
    await client.revoke(id, { by: "test", reason: "", gone: true });
    await page.getByRole("button", { name: "held 6,000" }).waitFor();
    expect(world.complaints).toEqual([]);
    await page.close();
  });

  test("keeps the focus on a tile that is scrolled out of sight, and moves on from there", async () => {
    const page = await world.open("/pools/slice?state=busy");
    await page.locator("[aria-posinset='40']").waitFor();
    const focused = () =>
      page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? ''");
    const names = await page
      .locator(".tile-head a")
      .evaluateAll((links) =>
        links.slice(0, 40).map((link) => link.getAttribute("aria-label") ?? ""),
      );
    await page.getByRole("link", { name: names[0] ?? "", exact: true }).focus();
    const toTheEnd = async () => {
      await page.evaluate("window.scrollTo(0, document.body.scrollHeight)");
      await page.locator("[aria-posinset='6000']").waitFor();
      await page.locator("[aria-posinset='3000']").waitFor({ state: "detached" });
    };
    await toTheEnd();
    expect(await focused()).toBe(names[0]);
    // Through more tiles than a row has, each time from the other end of the page.
    for (const name of names.slice(1, 12)) {
      await page.keyboard.press("j");
      expect(await focused()).toBe(name);
      await page.locator(".tile", { hasText: name }).first().waitFor();
      await toTheEnd();
    }
    // A tile may have several links. Tab goes through them and on to the next tile, and so back.
    const tile = () =>
      page.evaluate<string>("document.activeElement.closest('.tile')?.dataset.name ?? ''");
    const first = await tile();
    for (const key of ["Tab", "Shift+Tab"]) {
      const passed: string[] = [];
      for (let step = 0; step < 6; step++) {
        await page.keyboard.press(key);
        passed.push(await tile());
        await toTheEnd();
        expect(await tile()).toBe(passed.at(-1));
      }
      expect(passed).not.toContain("");
      expect(new Set(passed).size).toBeGreaterThan(1);
    }
    expect(await tile()).toBe(first);
    // Once the focus is elsewhere it is drawn no longer.
    await page.locator("#search").focus();
    await page.locator("[aria-posinset='12']").waitFor({ state: "detached" });
    expect(world.complaints).toEqual([]);
    await page.close();
  });
});
