/** The pictures in `docs/`, taken from a large site that has been alive for some minutes. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { BerthClient } from "../src/client/berth-client.ts";
import { launchChromium } from "./chromium.ts";
import { TestServer } from "./cli-processes.ts";
import { dice, fill, holderName, largePools } from "./large-site.ts";

const folder = fileURLToPath(new URL(process.argv[2] ?? "../docs/images/", import.meta.url));
const aliveMs = Number(process.argv[3] ?? 180) * 1_000;

const pools = largePools();
await mkdir(folder, { recursive: true });
await using server = await TestServer.start(pools);
const client = new BerthClient({ url: server.url });
const held = await fill(client, pools);
await putAside(client);
await live(aliveMs);
const browser = await launchChromium();
try {
  await takeAll(browser);
} finally {
  await browser.close();
}

async function putAside(to: BerthClient): Promise<void> {
  const why = { by: "ada", reason: "its key was revoked" };
  const note =
    "cleaner ended with 1\ndeleting stack ci-4711\nAccessDenied: not authorised to DeleteStack";
  const { items } = await to.resources({ state: "free", limit: 400 });
  for (const [index, { name }] of items.entries()) {
    if (index % 90 === 0) await to.changeResource(name, { state: "quarantined", note, ...why });
    if (index % 70 === 5) await to.changeResource(name, { drained: true, ...why });
    if (index % 40 === 9) await to.changeResource(name, { state: "dirty", ...why });
  }
}

/** Jobs come and go. */
async function live(ms: number): Promise<void> {
  const roll = dice(11);
  const names = Object.keys(pools);
  for (const until = Date.now() + ms; Date.now() < until; ) {
    const gone = held.splice(Math.floor(roll() * held.length), 3);
    await Promise.all(gone.map((lease) => client.giveBack(lease).catch(() => {})));
    for (let asked = 0; asked < 3; asked++) {
      const pool = names[Math.floor(roll() ** 2 * names.length)] ?? "";
      const answer = await client.ask({ holder: holderName(roll), items: [{ pool }], ttl: "1h" });
      const { id, token } = answer.granted ? answer.lease : answer.request;
      if (token !== undefined) held.push({ id, token });
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

async function takeAll(by: Browser): Promise<void> {
  const lease = (await client.leases({ pool: "gcp-nightly-account", limit: 1 })).items[0];
  const waiting = (await client.requests({ limit: 40 })).items.at(-1);
  const wide = { width: 1_360, height: 860 };
  const phone = { width: 390, height: 780 };
  const shots = [
    ["overview-light", "/", wide, "light"],
    ["overview-dark", "/?sort=waiting", wide, "dark"],
    ["overview-phone", "/?sort=waiting", phone, "light"],
    ["pool-light", `/pools/${waiting?.items[0]?.pool}?window=1h`, wide, "light"],
    ["pool-dark", "/pools/gcp-nightly-account?window=1h", wide, "dark"],
    ["pool-phone", `/pools/${waiting?.items[0]?.pool}?window=1h`, phone, "dark"],
    ["lease-light", `/leases/${lease?.id}`, wide, "light"],
    ["request-light", `/requests/${waiting?.id}`, wide, "light"],
    ["history-light", "/history?window=1h", wide, "light"],
    ["resource-light", `/resources/${lease?.claims[0]?.resource}?span=1h`, wide, "light"],
    ["out-light", "/out", wide, "light"],
    ["queue-light", "/queue", wide, "light"],
    ["events-dark", "/events", wide, "dark"],
  ] as const;
  for (const [name, path, viewport, colorScheme] of shots) {
    const page = await by.newPage({ viewport, colorScheme, deviceScaleFactor: 1 });
    await page.goto(server.url + path);
    await page.locator(".pulse.live").waitFor({ state: "attached" });

    await page.waitForTimeout(1_200);
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.close();
  }
}
