/**
 * Pictures of a server that is alive: `npm run demo` in one terminal, and after some minutes
 * `node test/screenshots.ts http://127.0.0.1:8080` in another makes those in `docs/images/`.
 * `node test/screenshots.ts http://127.0.0.1:8080 FOLDER --every-view` makes one of each view from top to bottom, light, dark and on a phone,
 * for somebody who looks at all of them. `BERTH_TOKEN` signs in.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { BrowserContextOptions } from "playwright-core";
import type { Lease, Pool } from "../src/api/schemas.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { launchChromium } from "./chromium.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { "every-view": { type: "boolean", default: false } },
});
const url = positionals[0] ?? "http://127.0.0.1:8080";
const folder = positionals[1] ?? fileURLToPath(new URL("../docs/images/", import.meta.url));
/** For what is drawn a moment after it has come: charts, and what is read second. */
const settleMs = 2_500;

const token = process.env["BERTH_TOKEN"];
const client = new BerthClient({ url, ...(token && { token }) });

const wide = { viewport: { width: 1_360, height: 860 } };
const tall = { viewport: { width: 1_360, height: 1_300 } };
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly screen: BrowserContextOptions;
  readonly colorScheme: "light" | "dark";
}

await mkdir(folder, { recursive: true });
const browser = await launchChromium();
try {
  const storageState = await signedIn();
  const paths = await pathsOfViews();
  for (const shot of values["every-view"] ? everyView(paths) : forGuides(paths)) {
    const { name, path, screen, colorScheme } = shot;
    const context = await browser.newContext({ ...screen, colorScheme, storageState });
    const page = await context.newPage();
    await page.goto(url + path);
    await page.locator(".pulse.live").waitFor({ state: "attached" });
    await page.waitForTimeout(settleMs);
    for (const note of await page.locator(".loading").all())
      await note.waitFor({ state: "detached" });
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: values["every-view"] });
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

/** One address of each view, with what is worth a look there. */
async function pathsOfViews() {
  const pools = await client.everyPool();
  const busiest = pools.toSorted((a, b) => b.waiting - a.waiting);
  const first = (fits: (pool: Pool) => boolean) =>
    `/pools/${(busiest.find(fits) ?? busiest[0])?.name ?? ""}`;
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
  const shared = first(({ usage }) => usage !== undefined);
  const plain = first(
    ({ total, flow, usage }) => total > 5 && !usage && flow.everySeconds === null,
  );
  return {
    // A lease may end while the others are made.
    lease: `/leases/${(waited ?? leases[0])?.id ?? ""}`,
    request: `/requests/${stuck?.id ?? ""}`,
    overview: "/",
    pool: plain,
    capacity: shared,
    paced: first(({ policy }) => policy.pace !== null && policy.adaptive === null),
    adaptive: first(({ policy }) => policy.adaptive !== null),
    limit: first(({ limit }) => limit !== undefined),
    admission: first(({ admission }) => admission !== null),
    "cluster-pool": first(({ template }) => template !== undefined),
    "what-if": `${plain}?if=size&last=1h&until=${new Date().toISOString()}`,
    resource: `/resources/${broken?.name ?? ""}`,
    out: "/out",
    clusters: "/clusters",
    hubs: "/hubs",
    spaces: "/spaces",
    history: "/history",
    events: "/events",
    audit: "/audit",
    queue: "/queue",
    leases: "/leases?group=none&sort=silent",
    search: "/search?q=lab",
  };
}

type Paths = Awaited<ReturnType<typeof pathsOfViews>>;

function everyView(paths: Paths): Shot[] {
  return Object.entries(paths).flatMap(([name, path]) => [
    { name: `${name}-light`, path, screen: wide, colorScheme: "light" },
    { name: `${name}-dark`, path, screen: wide, colorScheme: "dark" },
    { name: `${name}-phone`, path, screen: phone, colorScheme: "light" },
  ]);
}

function forGuides(paths: Paths): Shot[] {
  const shot = (
    view: keyof Paths,
    look: "light" | "dark" | "phone",
    changes: Partial<Shot> = {},
  ): Shot => ({
    name: `${view}-${look}`,
    path: paths[view],
    screen: look === "phone" ? phone : wide,
    colorScheme: look === "dark" ? "dark" : "light",
    ...changes,
  });
  return [
    shot("lease", "dark"),
    shot("overview", "light"),
    shot("overview", "dark", { path: "/?sort=waiting" }),
    shot("overview", "phone", { path: "/?sort=trouble" }),
    shot("pool", "dark", { screen: tall }),
    shot("pool", "phone", { colorScheme: "dark" }),
    shot("capacity", "light", { screen: tall }),
    shot("limit", "light", { screen: tall }),
    shot("request", "light", { screen: tall }),
    shot("resource", "light"),
    shot("out", "light"),
    shot("clusters", "light"),
    shot("audit", "light"),
    shot("spaces", "light"),
    shot("history", "light"),
    shot("queue", "light"),
    shot("leases", "light"),
    shot("leases", "phone", { path: "/leases" }),
    shot("queue", "phone"),
  ];
}
