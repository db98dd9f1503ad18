import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HistoryEntry } from "../src/api/history-schemas.ts";
import type { Hub, HubCluster } from "../src/api/hub-schemas.ts";
import type { PageOf, Pool, Resource } from "../src/api/schemas.ts";
import { parseConfig } from "../src/config/parse.ts";
import { Process } from "../test/cli-processes.ts";
import { demandBetween } from "./demand.ts";
import { demoConfig, demoPools } from "./shape.ts";

const dayMs = 20 * 60_000;
const day = { dayMs, grainMs: 500, seed: 1 };

describe("the demo's pools", () => {
  const text = readFileSync(new URL("berth.yaml", import.meta.url), "utf8");

  test("equal those of the file, which has no errors and no warnings", () => {
    expect(text).toBe(demoConfig(demoPools()));
    expect(parseConfig(text, "berth.yaml")).toMatchObject({ ok: true, warnings: [] });
  });

  test("look like a large CI system: many small ones, a few large", () => {
    const sizes = demoPools().map(({ size }) => size);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(sizes).toHaveLength(240);
    expect(total).toBeGreaterThan(8_500);
    expect(total).toBeLessThan(9_500);
    expect(Math.max(...sizes)).toBeGreaterThan(5 * (total / 240));
  });
});

describe("the demo's demand", () => {
  const pools = demoPools();
  const demand = demandBetween(pools, 0, dayMs, day);

  test("is busier by day than by night, and asks only for existing pools", () => {
    const within = (from: number, to: number) =>
      demand.filter(({ askedAt }) => askedAt >= (dayMs * from) / 24 && askedAt < (dayMs * to) / 24);
    expect(within(13, 17).length).toBeGreaterThan(1.5 * within(1, 5).length);
    const names = new Set(pools.map(({ name }) => name));
    expect(demand.every(({ items }) => items.every(({ pool }) => names.has(pool)))).toBe(true);
    expect(new Set(demand.map(({ id }) => id)).size).toBe(demand.length);
  });

  test("keeps each pool about as busy as it is meant to be", () => {
    const heldMs = new Map<string, number>();
    for (const { items, ends } of demand) {
      const [item] = items;
      const before = heldMs.get(item?.pool ?? "") ?? 0;
      heldMs.set(item?.pool ?? "", before + (ends[0]?.afterMs ?? 0));
    }
    const large = pools.filter(({ size }) => size > 60);
    for (const { name, size, load } of large) {
      const found = (heldMs.get(name) ?? 0) / (size * dayMs);
      expect(Math.abs(found / load - 1), name).toBeLessThan(0.25);
    }
    expect(large.length).toBeGreaterThan(10);
  });

  test("is the same for the same seed", () => {
    expect(demandBetween(pools, 0, 5_000, day)).toEqual(demandBetween(pools, 0, 5_000, day));
    const other = demandBetween(pools, 0, 5_000, { ...day, seed: 2 });
    expect(other).not.toEqual(demandBetween(pools, 0, 5_000, day));
  });
});

test("npm run demo says at once that its address is taken", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const args = [main, "--listen", `127.0.0.1:${port}`];
  const demo = new Process(process.execPath, args, process.env);
  expect(await demo.ended).toBe(69);
  expect(demo.stderr).toContain(`Cannot listen on 127.0.0.1:${port}: something else listens there`);
  expect(demo.stderr).toContain("npm run demo -- --listen");
  expect(demo.stdout).toBe("");
}, 60_000);

test.each(["SIGHUP", "SIGINT", "SIGTERM"] as const)(
  "npm run demo stops at %s also while it starts, and starts no server then",
  async (signal) => {
    const main = fileURLToPath(new URL("main.ts", import.meta.url));
    const args = [main, "--listen", "127.0.0.1:0", "--past", "5s", "--pools", "1"];
    const demo = new Process(process.execPath, args, process.env);
    await demo.says(/Making a history/);
    demo.signal(signal);
    expect(await demo.ended, demo.all).toBe(0);
    expect(demo.stdout).not.toContain("http:");
  },
  120_000,
);

test("npm run demo prints its address, has a history, lends, and leaves nothing behind", async () => {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const args = [main, "--listen", "127.0.0.1:0", "--past", "30s", "--for", "1h"];
  const demo = new Process(process.execPath, args, process.env);
  onTestFinished(() => demo.signal("SIGTERM"));
  const [, url] = await demo.says(/ at (http:\S+)/);
  await demo.says(/Ctrl-C stops it/);
  const read = async <T>(path: string) => (await (await fetch(`${url}${path}`)).json()) as T;
  const listPools = async () => (await read<PageOf<Pool>>("/v1/pools?limit=1000")).items;
  const pools = await listPools();
  const plain = new Set(demoPools().map(({ name }) => name));
  expect(pools.filter(({ name }) => plain.has(name))).toHaveLength(240);
  expect(pools.reduce((sum, { states }) => sum + (states["busy"] ?? 0), 0)).toBeGreaterThan(200);
  // In the demo's night minutes pass without a request for it, and no check runs.
  const asked = await fetch(`${url}/v1/leases`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ holder: "demo-test", ttl: "4m" },
      items: [{ pool: "hosted-control-plane" }],
    }),
  });
  expect([201, 202]).toContain(asked.status);
  await everyKindIsAlive(read, listPools);
  // The history follows the journal, a little behind.
  const past = () => read<PageOf<HistoryEntry>>("/v1/history?limit=100");
  await expect.poll(async () => (await past()).items.length, { timeout: 60_000 }).toBe(100);
  demo.signal("SIGTERM");
  expect(await demo.ended).toBe(0);
  expect(demo.stdout).toMatch(/\d+ requests; \d+ could not reach the server/);
}, 300_000);

type Read = <T>(path: string) => Promise<T>;

/** A pool of each kind, and something that happens in it. */
async function everyKindIsAlive(read: Read, listPools: () => Promise<readonly Pool[]>) {
  const seen = async () => {
    const pools = new Map((await listPools()).map((pool) => [pool.name, pool]));
    const { items: orphans } = await read<PageOf<object>>("/v1/orphans");
    const { items: spaces } = await read<PageOf<{ leases: number }>>("/v1/spaces");
    const { items: resources } = await read<PageOf<Resource>>("/v1/resources?pool=sandbox-account");
    const { items: clusters } = await read<PageOf<object>>("/v1/clusters");
    const { items: hubs } = await read<PageOf<Hub>>("/v1/hubs");
    const others = await read<PageOf<HubCluster>>("/v1/hubs/hub-lab/clusters");
    const vcpus = pools.get("lab-vsphere")?.usage?.find(({ dimension }) => dimension === "vcpus");
    return {
      amountsAreHeld: (vcpus?.used ?? 0) > 0,
      isPaced: pools.get("install-paced")?.flow.everySeconds === 4,
      isAdaptive: pools.get("install-adaptive")?.policy.adaptive !== undefined,
      limitIsUsed: (pools.get("cloud-api")?.flow.limits[0]?.used ?? 0) > 0,
      isAdmitted: pools.get("hosted-control-plane")?.admission?.found === "room",
      isCleaned: resources.some(({ state }) => /cleaning|quarantined/.test(state)),
      clustersAreMade: clusters.length > 0,
      hubsMake: hubs.some(({ clusters: { stock, lent } }) => stock + lent > 0),
      oneIsCordoned: hubs.filter(({ state }) => state === "cordoned").length === 1,
      othersAreShown: others.items.some(({ owner, cluster }) => owner === "qe" && cluster === null),
      hasOrphan: orphans.length > 0,
      spacesHold: spaces.filter(({ leases }) => leases > 0).length > 3,
    };
  };
  const all = Object.fromEntries(Object.keys(await seen()).map((key) => [key, true]));
  // Each at some time: cleaning is short, and the cluster that admission asks is away at times.
  const everSeen: Record<string, boolean> = {};
  const look = async () => {
    for (const [key, isSeen] of Object.entries(await seen())) everSeen[key] ||= isSeen;
    return { ...everSeen };
  };
  await expect.poll(look, { timeout: 200_000, interval: 1_000 }).toEqual(all);
}
