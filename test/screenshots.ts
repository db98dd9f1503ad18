/**
 * The pictures in `docs/images/`, of a server that is alive: `npm run demo` in one terminal, and after
 * some minutes `node test/screenshots.ts http://127.0.0.1:8080` in another.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { BerthClient } from "../src/client/berth-client.ts";
import { launchChromium } from "./chromium.ts";

const url = process.argv[2] ?? "http://127.0.0.1:8080";
const folder = process.argv[3] ?? fileURLToPath(new URL("../docs/images/", import.meta.url));
/** For what is drawn a moment after it has come: charts, and what is read second. */
const settleMs = 2_500;

const client = new BerthClient({ url });
const wide = { width: 1_360, height: 860 };
const phone = { width: 390, height: 780 };
await mkdir(folder, { recursive: true });
const browser = await launchChromium();
try {
  for (const [name, path, viewport, colorScheme] of await shots()) {
    const page = await browser.newPage({ viewport, colorScheme });
    await page.goto(url + path);
    await page.locator(".pulse.live").waitFor({ state: "attached" });
    await page.waitForTimeout(settleMs);
    for (const note of await page.locator(".loading").all())
      await note.waitFor({ state: "detached" });
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.close();
  }
} finally {
  await browser.close();
}

async function shots() {
  const pools = await client.everyPool();
  const busiest = pools
    .filter(({ total }) => total > 5)
    .toSorted((a, b) => b.waiting - a.waiting)
    .at(0);
  const pool = busiest?.name ?? pools[0]?.name ?? "";
  return [
    ["overview-light", "/", wide, "light"],
    ["overview-dark", "/?sort=waiting", wide, "dark"],
    ["overview-phone", "/?sort=waiting", phone, "light"],
    ["pool-dark", `/pools/${pool}?window=1h`, { ...wide, height: 1_300 }, "dark"],
    ["pool-phone", `/pools/${pool}?window=1h`, phone, "dark"],
    ["history-light", "/history?window=1h", wide, "light"],
    ["queue-light", "/queue", wide, "light"],
  ] as const;
}
