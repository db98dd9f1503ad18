/**
 * The pictures in `docs/images/`, of a server that is alive: `npm run demo` in one terminal, and after
 * some minutes `node test/screenshots.ts http://127.0.0.1:8080` in another. `BERTH_TOKEN` signs in.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Pool } from "../src/api/schemas.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { launchChromium } from "./chromium.ts";

const url = process.argv[2] ?? "http://127.0.0.1:8080";
const folder = process.argv[3] ?? fileURLToPath(new URL("../docs/images/", import.meta.url));
/** For what is drawn a moment after it has come: charts, and what is read second. */
const settleMs = 2_500;

const token = process.env["BERTH_TOKEN"];
const client = new BerthClient({ url, ...(token && { token }) });
const wide = { width: 1_360, height: 860 };
const tall = { width: 1_360, height: 1_300 };
const phone = { width: 390, height: 780 };
await mkdir(folder, { recursive: true });
const browser = await launchChromium();
try {
  const storageState = await signedIn();
  for (const [name, path, viewport, colorScheme] of await shots()) {
    const context = await browser.newContext({ viewport, colorScheme, storageState });
    const page = await context.newPage();
    await page.goto(url + path);
    await page.locator(".pulse.live").waitFor({ state: "attached" });
    await page.waitForTimeout(settleMs);
    for (const note of await page.locator(".loading").all())
      await note.waitFor({ state: "detached" });
    await page.screenshot({ path: `${folder}/${name}.png` });
    await context.close();
  }
} finally {
  await browser.close();
}

/** The cookie of a session, if the server asks for credentials. */
async function signedIn() {
  const context = await browser.newContext();
  if (token !== undefined) {
    const page = await context.newPage();
    await page.goto(url);
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
    await page.locator(".pulse.live").waitFor({ state: "attached" });
  }
  const state = await context.storageState();
  await context.close();
  return state;
}

async function shots() {
  const pools = await client.everyPool();
  const busiest = pools.toSorted((a, b) => b.waiting - a.waiting);
  const first = (fits: (pool: Pool) => boolean) => (busiest.find(fits) ?? busiest[0])?.name ?? "";
  const pool = first(({ total, flow, usage }) => total > 5 && !usage && flow.everySeconds === null);
  const shared = first(({ usage }) => usage !== undefined);
  const paced = first(({ flow }) => flow.everySeconds !== null);
  const limited = first(({ flow }) => flow.limits.length > 0);
  return [
    ["overview-light", "/", wide, "light"],
    ["overview-dark", "/?sort=waiting", wide, "dark"],
    ["overview-phone", "/?sort=trouble", phone, "light"],
    ["pool-dark", `/pools/${pool}`, tall, "dark"],
    ["pool-phone", `/pools/${pool}`, phone, "dark"],
    ["capacity-light", `/pools/${shared}`, tall, "light"],
    ["capacity-phone", `/pools/${shared}`, phone, "light"],
    ["paced-light", `/pools/${paced}`, wide, "light"],
    ["limit-dark", `/pools/${limited}`, wide, "dark"],
    ["spaces-light", "/spaces", wide, "light"],
    ["leases-light", "/leases", wide, "light"],
    ["events-light", "/events", wide, "light"],
    ["history-light", "/history", wide, "light"],
    ["queue-light", "/queue", wide, "light"],
    ["queue-phone", "/queue", phone, "light"],
  ] as const;
}
