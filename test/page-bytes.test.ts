/** How much the overview of 240 pools reads, as Chromium counts it: compressed, headers included. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { fill, largePools } from "./large-site.ts";
import { pageWorld, type World } from "./page-world.ts";

const pools = largePools();
const kilobyte = 1_000;
const megabyte = 1_000 * kilobyte;
/** The most often that the overview reads each, as `web/src/data/questions.ts` says. */
const perHour = {
  "/v1/events": 3_600, // A digest each second.
  "/v1/pool-changes": 3_600 / 1.5,
  "/v1/attention": 3_600 / 5,
  "/v1/trends": 3_600 / 20,
  "/v1/replicas": 3_600 / 5,
  "/v1/whoami": 60, // Whenever the feed is opened, also if that comes late on a busy machine.
  "/v1/requests": 240 * 60, // Only of pools that cannot tell themselves why requests wait; here of all.
} as const;

/** Counts bytes by path, from now on. */
async function counted(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const paths = new Map<string, string>();
  const bytes = new Map<string, number>();
  const times = new Map<string, number>();
  const add = (to: Map<string, number>, key: string, by: number) =>
    to.set(key, (to.get(key) ?? 0) + by);
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    paths.set(requestId, new URL(request.url).pathname);
  });
  session.on("Network.responseReceived", ({ requestId, response }) => {
    const path = paths.get(requestId) ?? new URL(response.url).pathname;
    paths.set(requestId, path);
    add(bytes, path, response.encodedDataLength);
    if (path !== "/v1/events") add(times, path, 1);
  });
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
    const path = paths.get(requestId) ?? "/v1/events"; // The feed was open before we counted.
    add(bytes, path, encodedDataLength);
    if (path === "/v1/events" && encodedDataLength > 0) add(times, path, 1);
  });
  const total = () => bytes.values().reduce((sum, each) => sum + each, 0);
  return { bytes, times, total };
}

type Counted = Awaited<ReturnType<typeof counted>>;

/** What an hour costs if everything is read as often as it may be. */
function hourOf({ bytes, times }: Counted): number {
  const known: Readonly<Record<string, number>> = perHour;
  const paths = [...bytes.keys()];
  expect(paths.filter((path) => known[path] === undefined)).toEqual([]);
  const each = (path: string) => (bytes.get(path) ?? 0) / Math.max(1, times.get(path) ?? 0);
  return paths.reduce((sum, path) => sum + each(path) * (known[path] ?? 0), 0);
}

describe.skipIf(chromiumPath === undefined)("the bytes of the overview of 240 pools", () => {
  let world: World;
  beforeAll(async () => {
    world = await pageWorld(pools);
    await fill(world.client, pools);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** Until every poll has come at least once. */
  async function until(page: Page, { times }: Counted, paths: readonly string[]) {
    while (!paths.every((path) => (times.get(path) ?? 0) > 0)) await page.waitForTimeout(200);
  }

  test("the whole first view is less than 300 kB", async () => {
    const page = await world.browser.newPage();
    const count = await counted(page);
    await page.goto(new URL("/?idle=show", world.server.url).href);
    await page.locator("table.pools tbody tr").nth(239).waitFor({ state: "attached" });
    await until(page, count, ["/v1/attention", "/v1/trends", "/v1/pool-changes"]);
    console.info(`first view: ${Math.round(count.total() / kilobyte)} kB`);
    expect(count.total()).toBeLessThan(300 * kilobyte);
    await page.close();
  });

  test("a quiet tab reads less than 1 MB an hour", async () => {
    const page = await world.open("/?idle=show");
    await page.locator("table.pools tbody tr").nth(239).waitFor({ state: "attached" });
    const count = await counted(page);
    await until(page, count, ["/v1/attention", "/v1/trends", "/v1/pool-changes"]);
    // Nothing happens, so pools and attention are read at their slow intervals.
    const { bytes, times } = count;
    const hour = (path: string, everySeconds: number) =>
      ((bytes.get(path) ?? 0) / Math.max(1, times.get(path) ?? 0)) * (3_600 / everySeconds);
    const all = [
      hour("/v1/pool-changes", 30) + hour("/v1/trends", 20),
      hour("/v1/attention", 10) + hour("/v1/replicas", 5) + hour("/v1/events", 15),
    ];
    const sum = all.reduce((one, other) => one + other, 0);
    console.info(`a quiet tab: ${(sum / megabyte).toFixed(2)} MB an hour`);
    expect(sum).toBeLessThan(megabyte);
    await page.close();
  });

  test("240 pools that all change all the time are less than 20 MB an hour", async () => {
    const page = await world.open("/?idle=show");
    await page.locator("table.pools tbody tr").nth(239).waitFor({ state: "attached" });
    const count = await counted(page);
    let isOver = false;
    const names = Object.keys(pools);
    const busy = (async () => {
      for (let time = 0; !isOver; time++) {
        const asks = names.map(async (pool) => {
          const ask = { holder: `busy/${time}`, items: [{ pool }], nowOnly: true };
          const answer = await world.client.ask(ask).catch(() => undefined);
          if (!answer?.granted) return;
          await world.client.releaseOnce({ ...answer.lease, token: answer.lease.token ?? "" });
        });
        await Promise.all(asks);
      }
    })();
    await until(page, count, ["/v1/attention", "/v1/trends"]);
    while ((count.times.get("/v1/pool-changes") ?? 0) < 5) await page.waitForTimeout(200);
    isOver = true;
    await busy;
    const hour = hourOf(count);
    console.info(`240 busy pools: at most ${(hour / megabyte).toFixed(1)} MB an hour`, [
      ...count.bytes,
    ]);
    expect(hour).toBeLessThan(20 * megabyte);
    await page.close();
  });
});
