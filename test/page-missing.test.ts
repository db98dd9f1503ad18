/** Addresses of what does not exist: they ask once, and again when an event names it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

const busy = { count: 1, lockDelay: "0s" };
const paths = [
  "/pools/later",
  "/resources/later-1",
  "/clusters/nope",
  "/leases/nope",
  "/requests/nope",
];

describe.skipIf(chromiumPath === undefined)("the page of what does not exist", () => {
  const world = sharedWorld({ busy });

  test("does not ask again at every event, but when an event names it", async () => {
    const { client, server } = world();
    const calls: string[] = [];
    const pages = await Promise.all(
      paths.map(async (path) => {
        const page = await world().open(path);
        await page.getByText(/^(Cannot find|No lease or request has the id) /).waitFor();
        page.on("request", (request) => calls.push(new URL(request.url()).pathname));
        return page;
      }),
    );
    const leases = await world().open("/leases");
    for (const holder of ["job/1", "job/2", "job/3", "job/4"]) {
      const asked = await client.ask({ holder, items: [{ pool: "busy" }], ttl: "10m" });
      await leases.getByRole("link", { name: holder }).waitFor();
      const id = asked.granted ? asked.lease.id : "";
      await client.revoke(id, { by: "ada", reason: "next", gone: true });
      await leases.getByRole("link", { name: holder }).waitFor({ state: "detached" });
    }
    const isMissing = (path: string) => /history|nope|later/.test(path);
    // One more read than shown, if the feed opened after it.
    expect(calls.filter(isMissing).length).toBeLessThanOrEqual(2 * paths.length);
    const [pool, resource] = pages;
    const grown = { pools: { busy, later: { count: 1 } } };
    await writeFile(join(server.folder, "berth.yaml"), JSON.stringify(grown));
    await pool?.getByText("Cannot find").waitFor({ state: "detached" });
    await resource?.getByText("Cannot find").waitFor({ state: "detached" });
    expect(world().complaints).toEqual([]);
  });

  test("says of which kind it is, and names the nearest", async () => {
    const page = await world().open("/leases/nope");
    await page.getByText("No lease or request has the id nope").waitFor();
    await page.goto(`${world().server.url}/pools/bussy`);
    await page.getByRole("link", { name: "busy", exact: true }).waitFor();
  });

  test("has no page at a word that every object has", async () => {
    const page = await world().open("/nope");
    for (const word of ["constructor", "__proto__", "valueOf", "hasOwnProperty", "toString"]) {
      for (const path of [`/${word}`, `/${word}/x`]) {
        await page.goto(world().server.url + path);
        await page.getByText(`There is nothing at ${path}`, { exact: true }).waitFor();
      }
    }
    for (const word of ["__proto__", "constructor"]) {
      await page.goto(`${world().server.url}/history?window=${word}&worst=${word}`);
      await page.getByText(/^Nobody waited|of all waiting was for|^Nothing was lent/).waitFor();
    }
    expect(world().complaints).toEqual([]);
  });
});
