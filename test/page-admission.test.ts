/** The page of a pool that is lent only while a real API server's nodes have room. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { type Guard, guardIn, removePod } from "./kube-admission.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { aNode, aPod, OwnNodes } from "./kube-kinds.ts";
import { pageWorld, type World } from "./page-world.ts";
import { sharedCluster } from "./shared-cluster.ts";

const leftOut = noKube || chromiumPath === undefined;

describe.skipIf(leftOut)("the page of a pool with admission", { timeout: patienceMs }, () => {
  const cluster = sharedCluster();
  let nodes: OwnNodes;
  let guard: Guard;
  let world: World;
  beforeAll(async () => {
    nodes = await OwnNodes.reserve(cluster);
    await aNode(cluster, "worker", { cpu: "4", memory: "64Gi" });
    guard = await guardIn(cluster);
    await aPod(cluster, guard.namespace, "big", { cpu: "2", memory: "1Gi" }, "worker");
    const large = { count: 2, admission: guard.admission() };
    const small = { count: 2, admission: guard.admission({ cpu: 1_000 }) };
    world = await pageWorld({ large, small, plain: { count: 1 } });
  }, patienceMs);
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await guard?.proxy[Symbol.asyncDispose]();
    await nodes?.[Symbol.asyncDispose]();
  });

  test("shows the result of the check, the blocked requests, and the credits", async () => {
    const { client } = world;
    const items = [{ pool: "large" }, { pool: "small" }];
    const page = await world.open("/pools/large");
    const section = page.getByRole("region", { name: "Admission" });
    const fact = (name: string, words: string | RegExp) =>
      section.locator(".facts > div", { has: page.getByText(name, { exact: true }) }).filter({
        has: page.locator("dd", { hasText: words }),
      });
    const without = (name: string) =>
      section.locator(".facts > div", { has: page.getByText(name, { exact: true }) }).waitFor({
        state: "detached",
      });
    const said = (words: string) => section.locator(".said pre", { hasText: words });
    await fact("Decided by", "the capacity check").waitFor();
    await fact("Last check", "none since the server started").waitFor();
    await without("Waiting for admission");

    await client.ask({ holder: "e2e/1", items, ttl: "10m" });
    await fact("Last check", /ago, no capacity found$/).waitFor();
    await without("Admitted now");
    await said("too little CPU remains: 3000m needed, 2000m free").waitFor();
    await fact("Next check", /^(in \d+s|any moment)$/).waitFor();
    await fact("Waiting for admission", /^e2e\/1$/).waitFor();
    const answers = section.getByRole("table", { name: "Answers of the check" });
    await answers.locator("tbody tr", { hasText: "too little CPU remains" }).waitFor();

    // The other pool has its word, which nobody can use before this one has one too.
    await page.goto(new URL("/pools/small", world.server.url).href);
    await fact("Admitted now", /^1 more, within \d+s$/).waitFor();
    await fact("Last check", /ago, capacity found$/).waitFor();
    await without("Waiting for admission");

    await page.goto(new URL("/pools/large", world.server.url).href);
    guard.proxy.away = true;
    await said("the check failed: the API server cannot be reached").waitFor();
    await section.getByText("closed: the check fails").waitFor();
    await fact("Last check", /ago, check failed$/).waitFor();
    guard.proxy.away = false;
    await removePod(cluster, guard.namespace, "big");
    await fact("Last check", /ago, capacity found$/).waitFor();
    await without("Waiting for admission");
    await page.locator(".tile", { hasText: "e2e/1" }).waitFor();
    expect(world.complaints).toEqual([]);
  });

  test("has no Admission section for a pool without admission", async () => {
    const page = await world.open("/pools/plain");
    await page.getByRole("heading", { name: "Resources" }).waitFor();
    expect(await page.getByRole("region", { name: "Admission" }).count()).toBe(0);
  });
});
