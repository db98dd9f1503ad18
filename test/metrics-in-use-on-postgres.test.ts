/** Alerts and dashboard read metrics that a real server has. One of several servers has all of them. */
import { expect } from "vitest";
import { ReplicaWorld } from "./replica-world.ts";
import { postgresTest as test, testDatabase } from "./test-database.ts";
import { alerts, metricsIn, panelQueries } from "./watch-files.ts";

const database = testDatabase();

test("alerts and the dashboard read only metrics that a server has", async () => {
  await using world = await ReplicaWorld.start(1, {
    port: database.port,
    address: (port) => database.through(port, "metrics"),
    config: { pools: { aws: { count: 1 } } },
  });
  const [replica] = world.replicas;
  const text = await (await fetch(`${replica?.url}/metrics`)).text();
  const known = Array.from(text.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name);
  const read = [...alerts.map(({ expr }) => expr), ...panelQueries].flatMap(metricsIn);
  expect(new Set(read).size).toBeGreaterThan(30);
  expect(read.filter((name) => !known.includes(name))).toEqual([]);
});
