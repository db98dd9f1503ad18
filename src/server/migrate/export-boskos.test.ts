import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Broker } from "../../broker/broker.ts";
import { SystemEnvironment } from "../../broker/environment.ts";
import { parseConfig } from "../../config/parse.ts";
import type { Command } from "../../core/model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import { parseBoskosObjects } from "./boskos-objects.ts";
import { exportBoskos } from "./export-boskos.ts";
import { importBoskos } from "./import-boskos.ts";

const item = (name: string, type: string, status: object) => ({
  apiVersion: "boskos.k8s.io/v1",
  kind: "ResourceObject",
  metadata: { name },
  spec: { type },
  status,
});

const expirationDate = "2099-06-11T10:01:46Z";
const records = [
  item("a", "t", { state: "leased", owner: "job/1", userData: { key: "value" } }),
  item("b", "t", { state: "dirty", owner: "", userData: {} }),
  item("uuid", "dt", { state: "free", owner: "", userData: {}, expirationDate }),
];

test("exportBoskos() returns a grant that was never delivered as not held", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-export-"));
  const config = parseConfig("resources: [{ type: t, names: [a, b] }]", "boskos.yaml");
  const held = (name: string) => item(name, "t", { state: "busy", owner: "first", userData: {} });
  const objects = parseBoskosObjects(JSON.stringify({ items: [held("a"), held("b")] }));
  await importBoskos({
    pools: config.ok ? config.pools : [],
    objects,
    data: folder,
    dryRun: false,
  });
  const journal = SqliteJournal.open(folder);
  const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
  const poll = (id: string, state: string): Command => ({
    type: "acquire",
    id: id as RequestId,
    ask: {
      holder: id,
      items: [{ pool: "t" as PoolName, count: 1, state, into: "cleaning" }],
      ttlMs: null,
      byName: true,
      key: id,
      presenceMs: 30_000,
    },
    waitMs: 0,
  });
  const release = (name: string): Command => ({
    ...{ type: "release-held", resource: name as ResourceName, holder: "first", state: "dirty" },
  });
  for (const id of ["collects", "left"]) await broker.submit(poll(id, "dirty"));
  for (const name of ["a", "b"]) await broker.submit(release(name));
  await broker.submit(poll("collects", "dirty"));
  await broker.close();
  await journal.close();
  const { items } = await exportBoskos(folder);
  expect(items).toMatchObject([
    { metadata: { name: "a" }, status: { state: "cleaning", owner: "collects" } },
    { metadata: { name: "b" }, status: { state: "dirty", owner: "" } },
  ]);
  await rm(folder, { recursive: true });
});

test("exportBoskos() returns what importBoskos() read, in the form of Boskos", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-export-"));
  const config = parseConfig(
    "resources: [{ type: t, names: [a, b] }, { type: dt, max-count: 2 }]",
    "boskos.yaml",
  );
  const objects = parseBoskosObjects(JSON.stringify({ kind: "List", items: records }));
  const pools = config.ok ? config.pools : [];
  await importBoskos({ pools, objects, data: folder, dryRun: false });
  const exported = await exportBoskos(folder);
  const lastUpdate = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(exported.items).toEqual(
    records.map((record) => ({ ...record, status: { ...record.status, lastUpdate } })),
  );
  expect(parseBoskosObjects(JSON.stringify(exported)).resources).toMatchObject(
    objects.resources.map(({ updatedAt: _, ...rest }) => rest),
  );
  await rm(folder, { recursive: true });
});
