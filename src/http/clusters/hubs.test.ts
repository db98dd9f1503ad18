import { expect, test } from "vitest";
import type { Hub, HubClusterList } from "../../api/hub-schemas.ts";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { clusterSite } from "./clusters-site.suite.ts";

const hubs = [
  { name: "east", labels: { region: "us" }, limit: 4 },
  { name: "west", labels: {} },
];

async function hubSite() {
  const site = await clusterSite([]);
  const pools = [clusterPool("ocp", { size: 1, hubs: ["east", "west"] })];
  await site.broker.submit({ type: "configure", pools, hubs });
  return site;
}

test("hubs show their stock, limit, state and the last error in full", async () => {
  await using site = await hubSite();
  expect(
    await site.call("PUT /v1/hubs/east/probe", { body: { versions: ["4.20"] } }),
  ).toMatchObject({
    status: 204,
  });
  const error = `connect ECONNREFUSED ${"x".repeat(300)}`;
  await site.call("PUT /v1/hubs/west/probe", { body: { error } });
  const body = (await site.call("GET /v1/hubs")).body as { items: Hub[] };
  expect(body.items).toMatchObject([
    {
      ...{ name: "east", state: "active", limit: 4, versions: ["4.20"], pools: ["ocp"] },
      clusters: { total: 1, lent: 0, stock: 0, inFlight: 1, states: { creating: 1 } },
      left: 3,
    },
    { name: "west", state: "unreachable", limit: null, left: 0, outage: { error } },
  ]);
  const attention = await site.call("GET /v1/attention");
  expect(JSON.stringify(attention.body)).toContain("hub_unreachable");
});

test("the counts of a hub are all of its clusters, also those that wait for their destruction", async () => {
  await using site = await clusterSite([]);
  const pool = clusterPool("ocp", { size: 2, running: 2, concurrent: 1, hubs: ["east"] });
  await site.broker.submit({ type: "configure", pools: [pool], hubs });
  await site.call("PUT /v1/hubs/east/probe", { body: {} });
  const counts = async () => ((await site.call("GET /v1/hubs/east")).body as Hub).clusters;
  const first = await site.make();
  expect((await counts()).states).toEqual({ free: 1, creating: 1 });
  // The other one is still being made, and only one may be created or destroyed at a time.
  await site.call(`DELETE /v1/clusters/${first}?by=ann&reason=test`);
  const { total, lent, stock, inFlight, states } = await counts();
  expect([total, lent, stock, inFlight]).toEqual([2, 0, 0, 2]);
  expect(states).toEqual({ creating: 1, used: 1 });
});

test("a hub says which kinds it lacks for the templates that use it", async () => {
  await using site = await clusterSite([]);
  const needs = ["HostedCluster.hypershift.openshift.io"];
  const pools = [clusterPool("ocp", { hubs: ["east"], needs })];
  await site.broker.submit({ type: "configure", pools, hubs });
  const missingKinds = async () => (await site.call("GET /v1/hubs/east")).body;
  expect(await missingKinds()).toMatchObject({ missingKinds: [] });
  await site.call("PUT /v1/hubs/east/probe", { body: { kinds: [] } });
  expect(await missingKinds()).toMatchObject({ missingKinds: needs });
  await site.call("PUT /v1/hubs/east/probe", { body: { kinds: needs } });
  expect(await missingKinds()).toMatchObject({ missingKinds: [] });
});

test("/metrics has the clusters, the limit and the state of each hub", async () => {
  await using site = await hubSite();
  await site.call("PUT /v1/hubs/east/probe", { body: {} });
  await site.call("PUT /v1/hubs/west/probe", { body: { error: "no route to host" } });
  await site.call("PUT /v1/hubs/west/state", { body: { state: "cordoned" } });
  const { text } = await site.call("GET /metrics");
  for (const line of [
    'berth_hub_clusters{hub="east",kind="in_flight"} 1',
    'berth_hub_clusters{hub="west",kind="in_flight"} 0',
    'berth_hub_limit{hub="east"} 4',
    'berth_hub_state{hub="west",state="cordoned"} 1',
    'berth_hub_state{hub="west",state="active"} 0',
    'berth_hub_reachable{hub="east"} 1',
    'berth_hub_reachable{hub="west"} 0',
    'berth_hub_failed_creations{hub="east"} 0',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});

test("operators cordon a hub with a reason, and use it again", async () => {
  await using site = await hubSite();
  const cordoned = await site.call("PUT /v1/hubs/east/state", {
    body: { state: "cordoned", by: "ann", reason: "upgrade" },
  });
  expect(cordoned.body).toMatchObject({ state: "cordoned", set: { why: "upgrade" } });
  const again = await site.call("PUT /v1/hubs/east/state", { body: { state: "active" } });
  expect(again.body).toMatchObject({ state: "active", set: null });
  expect(await site.call("PUT /v1/hubs/eats/state", { body: { state: "active" } })).toMatchObject({
    status: 404,
    body: { code: "hub_not_found", hint: 'Did you mean "east"?' },
  });
  expect((await site.call("PUT /v1/hubs/east/state", { body: { state: "gone" } })).status).toBe(
    400,
  );
});

test("clusters that Berth has not made are shown beside its own, with the lease behind", async () => {
  await using site = await hubSite();
  await site.call("PUT /v1/hubs/east/probe", { body: {} });
  const instance = await site.broker.read(({ resources }) => {
    const [made] = [...resources.values()];
    return made?.sharing === "exclusive" ? (made.cluster?.instance ?? "") : "";
  });
  const common = { kind: "HostedCluster", namespace: "clusters", state: "ready" };
  const items = [
    { ...common, name: "ours", createdAt: "", owner: null, instance },
    {
      ...common,
      name: "ann-test",
      createdAt: "2020-01-01T00:00:00Z",
      owner: "ann",
      instance: null,
    },
  ];
  expect((await site.call("PUT /v1/hubs/east/clusters", { body: { items } })).status).toBe(204);
  const body = (await site.call("GET /v1/hubs/east/clusters")).body as HubClusterList;
  expect(body.items).toMatchObject([
    { name: "ours", cluster: "ocp-1", lease: null, ageSeconds: null },
    { name: "ann-test", owner: "ann", cluster: null, lease: null },
  ]);
  expect(body.foundAt).not.toBeNull();
  expect((await site.call("GET /v1/hubs/nowhere/clusters")).status).toBe(404);
});

test("a cluster that was destroyed since a worker looked does not look like one that was left", async () => {
  await using site = await clusterSite([]);
  const pool = clusterPool("ocp", { size: 1, hubs: ["east"] });
  await site.broker.submit({ type: "configure", pools: [pool], hubs });
  await site.call("PUT /v1/hubs/east/probe", { body: {} });
  const made = await site.make();
  const instance = await site.broker.read(({ resources }) => {
    const cluster = [...resources.values()].find(({ name }) => name === made);
    return cluster?.sharing === "exclusive" ? (cluster.cluster?.instance ?? "") : "";
  });
  const common = { kind: "HostedCluster", namespace: "clusters", state: "ready", createdAt: "" };
  const items = [
    { ...common, name: "ours", owner: null, instance },
    { ...common, name: "left", owner: null, instance: "ocp-9.of-a-lost-journal" },
  ];
  const look = () => site.call("PUT /v1/hubs/east/clusters", { body: { items } });
  const names = async () => {
    const { body } = await site.call("GET /v1/hubs/east/clusters");
    return (body as HubClusterList).items.map(({ name }) => name);
  };
  await look();
  expect(await names()).toEqual(["ours", "left"]);
  await site.call(`POST /v1/clusters/${made}/abandon`, { body: { by: "ann", reason: "gone" } });
  expect(await names()).toEqual(["left"]);
  // Its worker may have looked just before.
  await look();
  expect(await names()).toEqual(["left"]);
  await look();
  expect(await names()).toEqual(["ours", "left"]);
});
