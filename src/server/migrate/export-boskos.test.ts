import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseConfig } from "../../config/parse.ts";
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
