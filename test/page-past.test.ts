/** Pages show what happened before they were opened: it comes from the server. */
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

const pools = {
  single: { members: ["only-1"], lockDelay: "0s" },
  noise: { count: 1, lockDelay: "0s" },
  washed: { count: 1, janitor: { command: ["./no-such-command"] } },
  room: { place: "least-used", members: { "room-1": { capacity: { vcpus: 8 } } } },
};
/** More than a page reads from the feed when it opens. */
const noiseLeases = 150;

describe.skipIf(chromiumPath === undefined)("the page, about the past", () => {
  const world = sharedWorld(pools);

  const lease = async (pool: string, holder: string, more: object = {}) => {
    const body = { holder, items: [{ pool, ...more }], ttl: "10m" };
    const answer = await world().client.ask(body);
    const { id, token = "" } = answer.granted ? answer.lease : answer.request;
    return { id, token };
  };

  test("a lease and a resource have all their events, also those from long before", async () => {
    const first = await lease("single", "early/1");
    const second = await lease("single", "early/2");
    await world().client.release(first);
    await world().client.release(second);
    for (let count = 0; count < noiseLeases; count++) {
      await world().client.release(await lease("noise", "noise"));
    }
    const page = await world().open(`/leases/${second.id}`);
    const events = page.locator(".events li");
    await events.nth(2).waitFor();
    const shown = (await events.allTextContents()).map((text) => text.replace(/^[\d,.: ]*/, ""));
    expect(shown).toEqual([
      expect.stringContaining("early/2 releases only-1"),
      expect.stringContaining("early/2 gets only-1"),
      expect.stringContaining("early/2 queues for single"),
    ]);

    await page.goto(new URL("/resources/only-1", world().server.url).href);
    await events.filter({ hasText: "early/1 gets only-1" }).waitFor();
    await events.filter({ hasText: "only-1 was added in single" }).waitFor();
    // What happens while the page is open follows, once.
    const third = await lease("single", "late/3");
    await events.first().filter({ hasText: "late/3 gets only-1" }).waitFor();
    expect(await events.filter({ hasText: "late/3" }).count()).toBe(1);
    await world().client.release(third);
    expect(world().complaints).toEqual([]);
  });

  test("past leases show of which pool and holder they are, and have a way to all", async () => {
    const { client, open } = world();
    await client.release(await lease("single", "past/1"));
    await client.release(await lease("noise", "past/2"));
    const page = await open("/history?pool=noise&holder=past%2F2");
    const choice = (label: string) =>
      page.locator("label.names", { hasText: label }).locator("select");
    const rows = page.locator("table.past tbody tr");
    await rows.filter({ hasText: "past/2" }).waitFor();
    expect(await choice("Pool").inputValue()).toBe("noise");
    const holder = choice("Holder");
    expect(await holder.inputValue()).toBe("past/2");
    await holder.selectOption("all");
    await holder.waitFor({ state: "detached" });
    await choice("Pool").selectOption("all");
    await rows.filter({ hasText: "past/1" }).waitFor();
  });

  test("a resource with many events has them page by page", async () => {
    const page = await world().open("/resources/noise-1");
    const events = page.locator(".events li");
    await events.nth(49).waitFor();
    expect(await events.count()).toBe(50);
    await page.getByRole("button", { name: "Earlier events" }).click();
    await events.nth(99).waitFor();
    const numbers = await page.locator(".events li .number").allTextContents();
    const seqs = numbers.map(Number);
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
    expect(new Set(seqs).size).toBe(100);
  });

  test("the timeline of a shared resource has all current holders", async () => {
    const two = [
      await lease("room", "vm/1", { amount: { vcpus: 2 } }),
      await lease("room", "vm/2", { amount: { vcpus: 3 } }),
    ];
    const page = await world().open("/resources/room-1?span=1h");
    const blocks = page.locator(".lane-block.how-held");
    await blocks.nth(1).waitFor();
    expect(await blocks.locator("title").allTextContents()).toEqual(["vm/1, held", "vm/2, held"]);
    for (const granted of two) await world().client.release(granted);
    await page.locator(".lane-block.how-released").nth(1).waitFor();
    // The resource and its past are read one after the other.
    await expect.poll(() => blocks.count(), { timeout: 30_000 }).toBe(0);
  });

  test("spark lines are there as soon as the pools are, also after a reload", async () => {
    const page = await world().open("/");
    for (let reloads = 0; reloads < 2; reloads++) {
      await page.locator("svg.spark").nth(3).waitFor();
      expect(await page.locator("svg.spark polygon").count()).toBe(4);
      await page.reload();
    }
  });

  test("warnings of the configuration are on the overview, and in berth status", async () => {
    const page = await world().open("/");
    await page.getByText("1 warning of the server and its configuration").first().click();
    await page.locator(".trouble.notice li", { hasText: "no-such-command" }).waitFor();
    const { stdout, stderr } = await world().server.done(["status"]);
    expect(stderr).toMatch(
      /^1 warning of the server and its configuration\n {2}.*no-such-command/m,
    );
    expect(stdout).not.toContain("no-such-command");
  });
});
