/** A server with the page, and browsers that look at it. */
import { existsSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { BerthClient } from "../src/client/berth-client.ts";
import { launchChromium } from "./chromium.ts";
import { TestServer } from "./cli-processes.ts";

/** Of a hub that nobody can reach. */
export const silentHubKubeconfig = `apiVersion: v1
kind: Config
current-context: c
clusters: [{ name: c, cluster: { server: "http://127.0.0.1:9" } }]
users: [{ name: c, user: {} }]
contexts: [{ name: c, context: { cluster: c, user: c } }]
`;

export interface World extends AsyncDisposable {
  readonly server: TestServer;
  readonly client: BerthClient;
  readonly browser: Browser;
  /** A page that is live. Whatever it logs as an error fails the test that asks for `complaints`. */
  open(path: string, options?: Parameters<Browser["newPage"]>[0]): Promise<Page>;
  readonly complaints: string[];
}

/** Whether the text of the first such element has the colour of trouble. */
export function isAmber(page: Page, selector: string): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)});
    const trouble = document.createElement("i");
    trouble.style.color = "var(--late)";
    element.append(trouble);
    const [own, late] = [element, trouble].map((one) => getComputedStyle(one).color);
    trouble.remove();
    return own === late;
  })()`);
}

/** One for all tests of a `describe`; each finds it without pages, and without commands that run. */
export function sharedWorld(pools: object, ...serveOptions: string[]): () => World {
  let world: World | undefined;
  beforeAll(async () => {
    world = await pageWorld(pools, ...serveOptions);
  });
  afterEach(async () => {
    for (const context of world?.browser.contexts() ?? []) await context.close();
    await world?.server.endCommands();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());
  return () => {
    if (world === undefined) throw new Error("Cannot use the world: the tests have not begun");
    return world;
  };
}

export function pageWorld(pools: object, ...serveOptions: string[]): Promise<World> {
  return pageWorldWith({ pools }, ...serveOptions);
}

/** With a whole configuration. */
export async function pageWorldWith(config: object, ...serveOptions: string[]): Promise<World> {
  if (!existsSync(new URL("../web/dist/index.html", import.meta.url))) {
    throw new Error("Cannot test the page: it has not been built. Run npm run build:web");
  }
  const server = await TestServer.startWith(config, ...serveOptions);
  const browser = await launchChromium();
  const complaints: string[] = [];
  return {
    server,
    client: new BerthClient({ url: server.url }),
    browser,
    complaints,
    async open(path, options) {
      const page = await browser.newPage(options);
      page.on("pageerror", ({ message }) => complaints.push(message));
      page.on("console", (message) => {
        // A server that is away, and answers such as 404, are told by the browser itself.
        const isOurs = !/Failed to load resource|net::ERR/.test(message.text());
        if (message.type() === "error" && isOurs) complaints.push(message.text());
      });
      await page.goto(new URL(path, server.url).href);
      await page.locator(".pulse.live").waitFor({ state: "attached" });
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
