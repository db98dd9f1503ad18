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
/** As many as a server replays in one go: seconds of work. */
const leases = limits.simulatedMax;

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
    const name = "What if the pool chose resources in another way?";
    const section = page.getByRole("region", { name });
    expect(await section.getByRole("slider").count()).toBe(0);
    await section.getByLabel("Strategy").selectOption("pack");
    await section.getByRole("button", { name: "Replay the demand" }).click();
    await section.getByRole("columnheader", { name: "With pack" }).waitFor();
    await section.getByRole("rowheader", { name: "vcpus in use" }).waitFor();
    expect(await section.getByRole("alert").count()).toBe(0);
    expect(world().complaints).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)("what-if over a long past", () => {
  let world: World;
  beforeAll(async () => {
    world = await pageWorld({ slot: { count: 3 } });
    await world.server.stop();
    const store = HistoryStore.open(join(world.server.folder, "data", "history.db"));
    store.load();
    const now = Date.now();
    const sizes = new Map([["slot", { pool: "slot", at: now - weekMs, size: 3 }]]);
    const past = { ...noChanges(), ended: longPast(now), sizes };
    store.save(store.seq, past, new Map());
    store.close();
    await world.server.start();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("can be stopped, and another one can start", async () => {
    const page = await world.open("/pools/slot");
    const givenUp = page.waitForEvent("requestfailed", (request) => request.method() === "POST");
    const section = page.getByRole("region", { name: "What if the pool had another size?" });
    const replay = section.getByRole("button", { name: "Replay the demand" });
    await section.getByLabel("Demand of the last").selectOption("7d");
    await replay.click();
    await section.locator("progress[value^='0.']").waitFor();
    expect(await replay.count()).toBe(0);
    await section.getByRole("button", { name: "Stop" }).click();
    await replay.waitFor();
    expect(new URL((await givenUp).url()).pathname).toBe("/v1/simulate");
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
