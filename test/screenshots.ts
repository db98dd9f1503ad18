/**
 * The pictures in `docs/images/`, of a server that is alive: `npm run demo` in one terminal, and after
 * some minutes `node test/screenshots.ts http://127.0.0.1:8080` in another. `BERTH_TOKEN` signs in.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Lease, Pool } from "../src/api/schemas.ts";
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
    const touch = viewport === phone && { hasTouch: true, isMobile: true };
    const context = await browser.newContext({ viewport, colorScheme, storageState, ...touch });
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
  const limited = first(({ limit }) => limit !== undefined);
  const requests = await client.everyRequest({});
  // The one that waits longest is still waiting when its turn for a picture comes.
  const later = requests
    .filter(({ reason }) => reason.code === "no_room")
    .toSorted((a, b) => (b.estimate?.p50Seconds ?? 0) - (a.estimate?.p50Seconds ?? 0));
  const stuck = later[0] ?? requests[0];
  // The youngest are still there when their turn for a picture comes.
  const byAge = (a: Lease, b: Lease) => b.grantedAt.localeCompare(a.grantedAt);
  const leases = (await client.everyLease({})).toSorted(byAge);
  const waited = leases.find(({ waitedSeconds, claims }) => waitedSeconds > 5 && claims.length > 0);
  const out = await client.everyResource({ state: "quarantined" });
  const [broken] = out.toSorted((a, b) => a.changedAt.localeCompare(b.changedAt));
  return [
    // A lease may end while the others are made.
    ["lease-dark", `/leases/${(waited ?? leases[0])?.id ?? ""}`, wide, "dark"],
    ["overview-light", "/", wide, "light"],
    ["overview-dark", "/?sort=waiting", wide, "dark"],
    ["overview-phone", "/?sort=trouble", phone, "light"],
    ["pool-dark", `/pools/${pool}`, tall, "dark"],
    ["pool-phone", `/pools/${pool}`, phone, "dark"],
    ["capacity-light", `/pools/${shared}`, tall, "light"],
    ["limit-light", `/pools/${limited}`, tall, "light"],
    ["request-light", `/requests/${stuck?.id ?? ""}`, tall, "light"],
    ["resource-light", `/resources/${broken?.name ?? ""}`, wide, "light"],
    ["out-light", "/out", wide, "light"],
    ["clusters-light", "/clusters", wide, "light"],
    ["audit-light", "/audit", wide, "light"],
    ["spaces-light", "/spaces", wide, "light"],
    ["history-light", "/history", wide, "light"],
    ["queue-light", "/queue", wide, "light"],
    ["leases-light", "/leases?group=none&sort=silent", wide, "light"],
    ["leases-phone", "/leases", phone, "light"],
    ["queue-phone", "/queue", phone, "light"],
  ] as const;
}
