/** Costs: from planning until destruction is confirmed, at the price of the moment (B4, Q5). */
import { expect, test } from "vitest";
import type { Costs } from "../../api/cluster-schemas.ts";
import { otherToken, testAuth, testTokens } from "../../auth/test-tokens.suite.ts";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { askBody, asLease } from "../test-site.suite.ts";
import { type ClusterSite, clusterSite } from "./clusters-site.suite.ts";

const hourMs = 3_600_000;
const pool = (cost: number) => clusterPool("ocp", { size: 1, running: 1 }, { cost });

async function costs(site: ClusterSite, query = "since=30d", token: string = testTokens.admin) {
  const { status, body } = await site.call(`GET /v1/costs?${query}`, { token });
  expect(status).toBe(200);
  const rows = (body as Costs).items.map(({ space, clusters, clusterHours, costHours }) => {
    return [
      space,
      clusters,
      Math.round(clusterHours * 1e6) / 1e6,
      Math.round(costHours * 1e6) / 1e6,
    ];
  });
  return rows.sort();
}

test("stock, use and destruction are charged, each to whom it belongs", async () => {
  await using site = await clusterSite([pool(10)], testAuth, testTokens.worker);
  await site.clock.advance(1 * hourMs); // It is being planned and made for an hour.
  await site.make();
  const ask = { body: askBody("ocp", { ttl: "12h" }), token: testTokens.holder };
  const lease = asLease(await site.call("POST /v1/leases", ask));
  expect(lease.claims).toHaveLength(1);
  expect(await costs(site)).toEqual([[null, 1, 1, 10]]);
  await site.broker.submit({ type: "configure", pools: [pool(20)] });
  await site.clock.advance(2 * hourMs);
  // The holder keeps the price of its grant; the next cluster is in stock at the new price.
  const stock = [null, 2, 3, 1 * 10 + 2 * 10];
  expect(await costs(site)).toEqual([stock, ["team", 1, 2, 20]]);
  await site.call(`DELETE /v1/leases/${lease.id}`, lease);
  await site.clock.advance(3 * hourMs); // It is charged until it is destroyed.
  expect((await costs(site)).at(-1)).toEqual(["team", 1, 5, 50]);
  const work = await site.take("destroying");
  await site.call(`DELETE /v1/leases/${work?.id}?state=tombstone`, { token: work?.token ?? "" });
  await site.clock.advance(5 * hourMs);
  expect((await costs(site)).at(-1)).toEqual(["team", 1, 5, 50]);
  // Only a part of the time, and only the caller's own space.
  expect((await costs(site, "since=11h&until=9h")).at(-1)).toEqual(["team", 1, 1, 10]);
  expect(await costs(site, "since=30d", testTokens.holder)).toEqual([["team", 1, 5, 50]]);
  expect(await costs(site, "since=30d", otherToken)).toEqual([]);
  expect((await costs(site, "since=30d&until=2999-01-01T00:00:00Z")).at(-1)).toEqual([
    "team",
    1,
    5,
    50,
  ]);
});

test("a cluster that is abandoned costs nothing from then on", async () => {
  await using site = await clusterSite([pool(10)]);
  const name = await site.make();
  await site.clock.advance(hourMs);
  await site.broker.submit({ type: "configure", pools: [clusterPool("ocp", { size: 0, max: 0 })] });
  await site.call(`POST /v1/clusters/${name}/abandon`, { body: { reason: "account closed" } });
  expect((await site.call(`GET /v1/clusters/${name}`)).status).toBe(404);
  await site.clock.advance(hourMs);
  expect(await costs(site)).toEqual([[null, 1, 1, 10]]);
});

test("wrong times are refused", async () => {
  await using site = await clusterSite([pool(1)]);
  for (const query of ["since=tomorrow", "since=1h&until=2h", "x=1"]) {
    expect((await site.call(`GET /v1/costs?${query}`)).status).toBe(400);
  }
});
