/** The pace of a pool on the page: what an operator does there is what the command line sees. */
import { describe, expect, test } from "vitest";
import type { Pool } from "../src/api/schemas.ts";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

const adaptive = { mode: "auto", min: 1, max: 8, cutEvery: "1s" };
const pools = {
  site: { limit: 4 },
  install: { count: 6, lockDelay: "0s", pace: { every: "1h" }, parent: "site" },
  finder: { count: 6, lockDelay: "0s", pace: { every: "10s" }, adaptive },
  shared: { limit: 4, pace: { every: "1h" } },
  child: { count: 6, lockDelay: "0s", parent: "shared" },
  plain: { count: 1 },
  quota: { limit: 3 },
  lanes: { count: 6, lockDelay: "0s", parent: "quota" },
};

describe.skipIf(chromiumPath === undefined)("the page of a pool", () => {
  const world = sharedWorld(pools);

  const flowOf = async (name: string) => {
    const pools = (await world().server.json("pools")) as Pool[];
    return pools.find((pool) => pool.name === name)?.flow;
  };

  test("with a pace lets operators pin it, and the command line shows the pin", async () => {
    await world().client.ask({ holder: "ci/1", items: [{ pool: "install" }], ttl: "10m" });
    const page = await world().open("/pools/install");
    const section = page.getByRole("region", { name: "Pace" });
    await section.locator("dd", { hasText: /^1h, / }).first().waitFor(); // The next grant is as far.
    await page.locator(".limits", { hasText: "site1 of 4" }).waitFor();

    await section.getByRole("button", { name: "Pin", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Your name").fill("ada");
    await dialog.getByLabel("Why").fill("the provider asked");
    await dialog.getByRole("button", { name: "Pin" }).click();
    expect((await flowOf("install"))?.pinned).toBeNull(); // Nobody said at what rate.
    await dialog.getByLabel("Starts per minute").fill("2.5");
    await dialog.getByText("install grants one lease every 24s").waitFor();
    await dialog.getByText("Now: one every 1h.").waitFor();
    await dialog.getByRole("button", { name: "Pin" }).click();
    await dialog.waitFor({ state: "detached" });
    await section.getByText(/by ada, .* ago: the provider asked/).waitFor();
    const by = { rate: 2.5, by: "ada", why: "the provider asked" };
    expect(await flowOf("install")).toMatchObject({ everySeconds: 24, pinned: by });

    expect((await world().server.done(["unpin", "install", "--reason", "enough"])).code).toBe(0);
    const rows = section.locator(".rates tbody tr");
    await rows.first().getByText("unpinned").waitFor();
    expect(await rows.first().textContent()).toContain("2.5 → 0.0167");
    expect(await rows.first().textContent()).toContain("enough");
    expect(await rows.last().textContent()).toContain("the provider asked");
    await section.getByRole("button", { name: "Unpin" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Events" }).click();
    const pinned = "The rate of install was pinned to 2.5 per minute (by ada: the provider asked)";
    await page.locator(".events li", { hasText: pinned }).waitFor();
    expect(world().complaints).toEqual([]);
  });

  test("that is only a limit shows its use, its holders and who waits for it", async () => {
    const asked = (holder: string, count: number) => ({
      ...{ holder, ttl: "10m", items: [{ pool: "lanes", count }] },
    });
    await world().client.ask(asked("ci/first", 2));
    await world().client.ask(asked("ci/second", 2));
    const page = await world().open("/pools/quota");
    await page.getByLabel("quota in numbers").getByText("Limit").waitFor();
    await page.locator(".leases tbody tr", { hasText: "ci/first" }).waitFor();
    // All pools below it have one list, so each row names its pool.
    const waiting = page.locator(".queue tbody tr", { hasText: "ci/second" });
    await waiting.getByRole("link", { name: "lanes" }).waitFor();
    expect(await waiting.locator("td").first().textContent()).toBe("1");
    await page.goto(new URL("/", page.url()).href);
    const row = page.getByRole("row", { name: /^quota / });
    await row.getByText("2/3").waitFor();
    expect(await row.textContent()).toContain("limit");
    expect(world().complaints).toEqual([]);
  });

  test("with an adaptive rate shows throttling reports, and removes a pin", async () => {
    const answer = await world().client.ask({
      holder: "ci/2",
      items: [{ pool: "finder" }],
      ttl: "10m",
    });
    if (!answer.granted) throw new Error("Cannot test reports: nothing was granted");
    const page = await world().open("/pools/finder");
    const section = page.getByRole("region", { name: "Pace" });
    const { id, token = "" } = answer.lease;
    await world().client.signal(
      { id, token },
      { throttled: true, evidence: "429 of RunInstances" },
    );
    const newest = section.locator(".rates tbody tr").first();
    await newest.getByText("429 of RunInstances").waitFor();
    expect(await newest.getByRole("link").textContent()).toBe("ci/2");
    await section.getByText("1 throttled").waitFor();
    await section.locator(".chart canvas").waitFor();

    await world().client.pin("finder", { rate: 20, by: "bob" });
    await section.getByRole("button", { name: "Unpin" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("finder continues with 8 starts per minute, its maximum.").waitFor();
    await dialog.getByLabel("Your name").fill("ada");
    await dialog.getByRole("button", { name: "Unpin" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await flowOf("finder")).toMatchObject({ rate: 8, pinned: null });
    expect(world().complaints).toEqual([]);
  });

  test("shows which parent's pace delays the next grant", async () => {
    await world().client.ask({ holder: "ci/3", items: [{ pool: "child" }], ttl: "10m" });
    const page = await world().open("/pools/child");
    const section = page.getByRole("region", { name: "Pace" });
    const facts = section.getByLabel("Pace");
    await section.getByText(/^next grant in \d/).waitFor();
    await facts.getByText("Because of").waitFor();
    await facts.getByRole("link", { name: "shared" }).click();
    await page.getByRole("heading", { name: "shared" }).waitFor();
    await facts.getByText("One every").waitFor();
    expect(await facts.getByText("Because of").count()).toBe(0);
    expect(world().complaints).toEqual([]);
  });

  test("without pace and limit has no section for them", async () => {
    const page = await world().open("/pools/plain");
    await page.locator(".tile").waitFor();
    expect(await page.getByRole("region", { name: "Pace" }).count()).toBe(0);
  });
});
