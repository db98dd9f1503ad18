/** 240 pools and 10,000 resources, with traffic: how much the browser has to do, and how little it must. */
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BerthClient } from "../src/client/berth-client.ts";
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

describe.skipIf(chromiumPath === undefined)("the page with 240 pools and 10,000 resources", () => {
  let world: World;
  let client: BerthClient;
  beforeAll(async () => {
    world = await pageWorld(pools);
    client = new BerthClient({ url: world.server.url });
    await fill(client, pools);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** Jobs come and go all over the place, as fast as the server takes them. */
  async function traffic(times: number): Promise<void> {
    const names = Object.keys(pools);
    for (let time = 0; time < times; time++) {
      const pool = time % 2 === 0 ? largest : (names[time % names.length] ?? largest);
      const answer = await client
        .ask({ holder: `busy/${time}`, items: [{ pool }], nowOnly: true })
        .catch(() => undefined);
      if (answer?.granted)
        await client.giveBack({ id: answer.lease.id, token: answer.lease.token ?? "" });
    }
  }

  async function measured(page: Page, what: string, work: () => Promise<void>) {
    const session: CDPSession = await page.context().newCDPSession(page);
    const reads: string[] = [];
    page.on("request", (request) => reads.push(request.url()));
    await page.evaluate(recorder);
    await work();
    const frames = await page.evaluate<number[]>("window.frames_");
    await session.send("HeapProfiler.collectGarbage");
    const heap = (await session.send("Runtime.getHeapUsage")).usedSize;
    const elements = await page.evaluate<number>("document.getElementsByTagName('*').length");
    frames.sort((a, b) => a - b);
    const at = (share: number) => Math.round(frames[Math.floor((frames.length - 1) * share)] ?? 0);
    const pace = `median ${at(0.5)} ms, 95 in 100 within ${at(0.95)} ms, longest ${at(1)} ms`;
    const size = `${elements} elements, heap ${(heap / 2 ** 20).toFixed(1)} MiB`;
    console.info(`${what}: ${frames.length} frames, ${pace}; ${size}, ${reads.length} reads`);
    return { heap, elements, reads: reads.length };
  }

  test("draws all pools, and reads them again far less often than something happens", async () => {
    const page = await world.open("/");
    await page.locator("table.pools tbody tr").nth(239).waitFor({ state: "attached" });
    const { heap, elements, reads } = await measured(page, "overview under traffic", () =>
      traffic(400),
    );
    expect(elements).toBeLessThan(elementsMax);
    expect(heap).toBeLessThan(heapBytesMax);
    expect(reads).toBeLessThan(200); // Of 800 and more events.
    await page.close();
  });

  test("draws only the tiles in sight, wherever one scrolls to", async () => {
    const page = await world.open(`/pools/${largest}`);
    await page.locator(".tile").first().waitFor();
    const scroll = async () => {
      const going = traffic(150);
      for (let step = 0; step < 60; step++) await page.mouse.wheel(0, 700);
      await going;
    };
    const { heap, elements } = await measured(page, "3,000 tiles scrolled under traffic", scroll);
    expect(elements).toBeLessThan(elementsMax);
    expect(heap).toBeLessThan(heapBytesMax);
    await page.keyboard.press("End");
    await page
      .locator(".tile", { hasText: "3000" })
      .or(page.locator(".tile", { hasText: "999" }))
      .first()
      .waitFor();
    await page.close();
  });

  test("finds one of ten thousand", async () => {
    const page = await world.open("/");
    await page.keyboard.press("/");
    await page.keyboard.type("slice-2718");
    await page.getByRole("option", { name: /aws-ci-quota-slice-2718/ }).click();
    await page.getByRole("heading", { level: 1, name: "aws-ci-quota-slice-2718" }).waitFor();
    await page.close();
  });
});
