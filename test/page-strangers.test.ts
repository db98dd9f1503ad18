/** Pages of other sites in a real browser on the server's machine, and the pages of the server. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

describe.skipIf(chromiumPath === undefined)("a browser", () => {
  const world = sharedWorld({ desk: { count: 5 } });
  const stateOf = async () => {
    const { items } = await world().client.resources({});
    return items.map(({ name, state, drained }) => ({ name, state, drained }));
  };

  /** A page of a stranger, under a name that resolves to this machine. */
  async function strangersPage(): Promise<Page & AsyncDisposable> {
    const site = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<title>stranger</title>");
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const page = await world().browser.newPage();
    await page.goto(`http://berth.test:${(site.address() as AddressInfo).port}/`);
    return Object.assign(page, {
      async [Symbol.asyncDispose]() {
        site.closeAllConnections();
        await new Promise((resolve) => site.close(resolve));
      },
    });
  }

  test("lets no other site act, whichever call it sends", async () => {
    await using page = await strangersPage();
    const before = await stateOf();
    const { host, port } = new URL(world().server.url);
    const lines = [
      "/acquire?type=desk&state=free&dest=busy&owner=evil",
      "/acquirebystate?names=desk-1&state=free&dest=busy&owner=evil",
      "/lease/acquire?type=desk&timeout=0s",
      "/reset?type=desk&state=free&expire=0s&dest=dirty",
      "/v1/leases",
    ];
    for (const base of [
      `http://${host}`,
      `http://localhost:${port}`,
      `http://berth.test:${port}`,
    ]) {
      for (const line of lines) {
        await page.evaluate(async (url) => {
          const body = JSON.stringify({ items: [{ pool: "desk" }], holder: "evil" });
          await fetch(url, { method: "POST", mode: "no-cors", body }).catch(() => {});
        }, base + line);
      }
    }
    expect(await stateOf()).toEqual(before);
  });

  test("shows nothing to a page whose name resolves to the server's address", async () => {
    const page = await world().browser.newPage();
    const { port } = new URL(world().server.url);
    const answer = await page.goto(`http://berth.test:${port}/v1/resources`);
    expect(answer?.status()).toBe(421);
    const read = await page.evaluate(async () => {
      const paths = ["/v1/resources", "/metric?type=desk", "/show-pools", "/v1/events", "/metrics"];
      return Promise.all(paths.map(async (path) => (await fetch(path)).status));
    });
    expect(read).toEqual([421, 421, 421, 421, 421]);
  });

  test("shows /docs and /docs/errors under their policies, and calls the server from there", async () => {
    const page = await world().browser.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", ({ message }) => complaints.push(message));
    await page.goto(`${world().server.url}/docs`);
    const row = page.locator("#operations-page-get_v1_whoami");
    await row.getByRole("button").first().click();
    await row.getByRole("button", { name: "Try it out" }).click();
    await row.getByRole("button", { name: "Execute" }).click();
    await row.locator(".live-responses-table .response-col_status").getByText("200").waitFor();
    await page.goto(`${world().server.url}/docs/errors`);
    const borders = "getComputedStyle(document.querySelector('table')).borderCollapse";
    expect(await page.evaluate(borders)).toBe("collapse");
    expect(complaints).toEqual([]);
  });
});
