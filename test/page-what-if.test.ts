/** What-if on the page over a past so long that one has time to think better of it. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../src/api/limits.ts";
import { pause } from "../src/client/pause.ts";
import type { HistoryEntry } from "../src/insight/history/entry.ts";
import { noChanges } from "../src/insight/history/fold.ts";
import { HistoryStore } from "../src/insight/history/store.ts";
import { chromiumPath } from "./chromium.ts";
import { pageWorld, sharedWorld, type World } from "./page-world.ts";

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;
/** The pool as it is and with one value: as much as a server replays in one go, seconds of work. */
const leases = limits.simulatedMax / 2;

/**
 * One after the other on three slots, as if a server had lent them for a week; the last hours ago.
 */
function longPast(now: number): HistoryEntry[] {
  const from = now - weekMs + hourMs;
  const everyMs = (weekMs - 3 * hourMs) / leases;
  return Array.from({ length: leases }, (_, index) => {
    const askedAt = Math.round(from + index * everyMs);
    const number = index + 1;
    return {
      ...{ number, id: `past-${number}`, claim: "1", holder: `ci/${number}`, space: "" },
      ...{
        waitedFor: null,
        ...{ purpose: "use" as const, amount: null, asked: null },
        pool: "slot",
        resource: `slot-${1 + (index % 3)}`,
        count: 1,
        priority: 0,
      },
      ...{ askedAt, askedSeq: number, grantedAt: askedAt, how: "released" },
      endedAt: Math.round(askedAt + 2.9 * everyMs),
    };
  });
}

describe.skipIf(chromiumPath === undefined)("what-if of a shared pool", () => {
  const capacity = { vcpus: 10 };
  const world = sharedWorld({
    hypervisor: {
      place: "least-used",
      members: { h1: { capacity }, h2: { capacity } },
    },
  });

  test("offers another strategy, and shows the use of each dimension", async () => {
    const { client } = world();
    const item = { pool: "hypervisor", amount: { vcpus: 4 } };
    const lease = await client.acquire({ holder: "ci/1", items: [item] });
    await client.release(lease);
    const page = await world().open("/pools/hypervisor");
    const section = page.getByRole("region", { name: "What if?" });
    expect(await section.getByLabel("Question").locator("option").allTextContents()).toEqual([
      ...["more or fewer hosts", "another strategy", "another pace"],
    ]);
    await section.getByLabel("Question").selectOption("another strategy");
    await section.getByLabel("Compare").fill("least-used, pack");
    await section.getByRole("button", { name: "Replay the demand" }).click();
    const today = section.getByRole("row", { name: /^least-used today/ });
    await today.waitFor();
    await section.getByRole("row", { name: /^pack/ }).waitFor();
    await section.getByRole("columnheader", { name: "vcpus in use" }).waitFor();
    expect(await section.locator(".curves").count(), "strategies are no numbers").toBe(0);
    expect(await section.getByRole("alert").count()).toBe(0);
    expect(world().complaints).toEqual([]);
  });
});

/** A server that has lent before, as its history says. */
async function worldWithPast(
  pools: { readonly slot: { readonly count: number } },
  past: (now: number) => HistoryEntry[],
): Promise<World> {
  const world = await pageWorld(pools);
  await world.server.stop();
  const store = HistoryStore.open(join(world.server.folder, "data", "history.db"));
  store.load();
  const now = Date.now();
  const size = { pool: "slot", at: now - weekMs, size: pools.slot.count };
  const changes = { ...noChanges(), ended: past(now), sizes: new Map([["slot", size]]) };
  store.save(store.seq, changes, new Map());
  store.close();
  await world.server.start();
  return world;
}

/** Jobs that hold a slot for a minute each, three at a time; the server has two slots. */
function shortPast(now: number): HistoryEntry[] {
  return Array.from({ length: 60 }, (_, index) => {
    const askedAt = now - hourMs + Math.floor(index / 3) * 150_000;
    const grantedAt = askedAt + (index % 3 === 2 ? 60_000 : 0);
    const resource = `slot-${1 + (index % 2)}`;
    return {
      ...{ number: index + 1, id: `past-${index}`, claim: "1", holder: "ci/1", space: "" },
      ...{ waitedFor: null, purpose: "use" as const, amount: null, asked: null },
      ...{ pool: "slot", resource, count: 1, priority: 0, askedAt, askedSeq: index },
      ...{ grantedAt, how: "released", endedAt: grantedAt + 60_000 },
    };
  });
}

describe.skipIf(chromiumPath === undefined)("what-if for those who plan capacity", () => {
  let world: World;
  beforeAll(async () => {
    world = await worldWithPast({ slot: { count: 2 } }, shortPast);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("draws waits against sizes, marks today, and shows differences", async () => {
    const page = await world.open("/pools/slot?last=24h");
    const section = page.getByRole("region", { name: "What if?" });
    await section.getByLabel("Compare").fill("1 2 3");
    await section.getByRole("button", { name: "Replay the demand" }).click();
    await section.locator(".curves polyline").nth(2).waitFor({ state: "attached" });
    expect(await section.locator(".curves circle:not(.ring)").count()).toBe(9);
    // What was recorded, beside today's value; and how far the replay is from it.
    expect(await section.locator(".curves circle.ring").count()).toBe(3);
    await section.getByText("The replay agrees with the record: as it is, 9 in 10").waitFor();
    expect(await section.locator(".curve-today text").textContent()).toBe("today");
    const cells = async (name: RegExp) =>
      (await section.getByRole("row", { name }).locator("td").allTextContents()).map((text) =>
        text.replaceAll(/\s+/g, " ").trim(),
      );
    // With two slots the third job of each round waits for a minute; with three, nobody does.
    expect((await cells(/^recorded/)).slice(0, 4)).toEqual(["60 of 60", "0s", "1m", "1m"]);
    expect((await cells(/^2 today/)).slice(0, 4)).toEqual(["60 of 60", "0s", "1m", "1m"]);
    expect((await cells(/^3/)).slice(1, 4)).toEqual(["0s=", "0s↓less by 1m", "0s↓less by 1m"]);
    expect((await cells(/^1/))[1]).toContain("↑more by");

    // Whoever gets the link sees the same question and the same answer.
    const href = await section
      .getByRole("link", { name: "Link to this answer" })
      .getAttribute("href");
    // The replayed day ends when the question is asked, so the caption differs by the minute.
    const told = await section.locator("table tbody").allTextContents();
    const other = await world.open(href ?? "");
    const there = other.getByRole("region", { name: "What if?" });
    await there.getByRole("row", { name: /^2 today/ }).waitFor();
    expect(await there.locator("table tbody").allTextContents()).toEqual(told);
    expect(await there.getByLabel("Compare").inputValue()).toBe("1 2 3");
    expect(world.complaints).toEqual([]);
  });

  test("draws no wait where too few start, and the curve leads out of the picture", async () => {
    const page = await world.open("/pools/slot?if=pace&values=1s+2s+5m&last=24h");
    const section = page.getByRole("region", { name: "What if?" });
    await section.getByRole("button", { name: "Replay the demand" }).click();
    const slow = section.getByRole("row", { name: /^5m/ });
    await slow.getByText(/^1\d of 60$/).waitFor();
    expect(await slow.getByText(/^\d+ % started$/).count()).toBe(3);
    // Two points of each percentile; the third would be of those few that started.
    expect(await section.locator(".curves circle:not(.ring)").count()).toBe(6);
    const above = section.locator(".curves text.above");
    expect(await above.locator("title").allTextContents()).toEqual([
      ...["99 in 100", "9 in 10", "half"].map((part) => `5m: fewer than ${part} started`),
    ]);
    expect(await section.locator(".curves polyline:not(.leads-out)").count()).toBe(3);
    expect(await section.locator(".curves polyline.leads-out").count()).toBe(3);
    expect(world.complaints).toEqual([]);
  });

  test("has a time of its own, whatever part of the charts somebody has zoomed to", async () => {
    const now = Math.floor(Date.now() / 1_000);
    const zoom = `from=${now - 1_800}&to=${now}`;
    const page = await world.open(`/pools/slot?${zoom}&if=size&last=1h`);
    await page.getByRole("button", { name: "Reset zoom" }).waitFor();
    const section = page.getByRole("region", { name: "What if?" });
    const replay = section.getByRole("button", { name: "Replay the demand" });
    await replay.waitFor();
    expect(await section.getByRole("table").count()).toBe(0);
    await replay.click();
    await section.getByRole("row", { name: /^2 today/ }).waitFor();
    expect(await section.getByRole("alert").count()).toBe(0);
    expect(new URL(page.url()).search).toContain(zoom);
    await page.getByRole("button", { name: "Reset zoom" }).waitFor();
    expect(world.complaints).toEqual([]);
  });

  test("a value that no pool can have is refused at its field", async () => {
    const page = await world.open("/pools/slot");
    const section = page.getByRole("region", { name: "What if?" });
    await section.getByLabel("Compare").fill("lots");
    await section.getByRole("button", { name: "Replay the demand" }).click();
    await section.getByText("lots is not a whole number of 1 or more").waitFor();
    expect(await section.getByLabel("Compare").getAttribute("aria-invalid")).toBe("true");
    await section.getByLabel("Compare").fill("3");
    await section.getByText("lots is not").waitFor({ state: "detached" });
    await section.getByRole("button", { name: "Replay the demand" }).click();
    await section.getByRole("row", { name: /^3/ }).waitFor();
    expect(await section.locator(".outdated").count()).toBe(0);
    // The answer that is there is not one to this.
    await section.getByLabel("Compare").fill("lots");
    await section.locator(".outdated table").waitFor();
  });
});

describe.skipIf(chromiumPath === undefined)("what-if over a long past", () => {
  let world: World;
  beforeAll(async () => {
    world = await worldWithPast({ slot: { count: 3 } }, longPast);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("can be stopped, and another one can start", async () => {
    const page = await world.open("/pools/slot");
    const givenUp = page.waitForEvent("requestfailed", (request) => request.method() === "POST");
    const section = page.getByRole("region", { name: "What if?" });
    const replay = section.getByRole("button", { name: "Replay the demand" });
    await section.getByLabel("Compare").fill("4");
    await section.getByLabel("Demand of the last").selectOption("7d");
    await replay.click();
    await section.locator("progress[value^='0.']").waitFor();
    await section.getByText("Replaying what was asked for, with each of these values").waitFor();
    expect(await replay.count()).toBe(0);
    await section.getByRole("button", { name: "Stop" }).click();
    await replay.waitFor();
    expect(new URL((await givenUp).url()).pathname).toBe("/v1/simulate/compare");
    expect(await section.getByRole("progressbar").count()).toBe(0);
    expect(await section.getByRole("alert").count()).toBe(0);
    expect(await section.getByRole("table").count()).toBe(0);

    // One at a time: the server has given it up as well before it takes another.
    while ((await world.client.simulationProgress()).running) await pause(20);
    await section.getByLabel("Demand of the last").selectOption("1h");
    await replay.click();
    await section.getByText("There were no requests in that time.").waitFor();
    expect(world.complaints).toEqual([]);
  });
});
