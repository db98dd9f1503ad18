/** Uses a real data folder. */

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Broker } from "../../broker/broker.ts";
import { SystemEnvironment } from "../../broker/environment.ts";
import { parseConfig } from "../../config/parse.ts";
import { exclusiveClaim, isHeld } from "../../core/model/state.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import type { BoskosResource } from "./boskos-objects.ts";
import { compareLifecycles } from "./compare-lifecycles.ts";
import { importBoskos } from "./import-boskos.ts";

function pools(text: string) {
  const config = parseConfig(text, "boskos.yaml");
  if (!config.ok) throw new Error("The configuration is bad");
  return config.pools;
}

const file = pools(
  "resources: [{ type: t, names: [a, b, c] }, { type: dt, min-count: 2, max-count: 3 }]",
);

function record(name: string, more: Partial<BoskosResource> = {}): BoskosResource {
  const empty = { updatedAt: undefined, expiresAt: undefined };
  return { name, type: "t", state: "free", owner: "", userData: {}, ...empty, ...more };
}

const resources = [
  record("a", { updatedAt: 3_000 }),
  record("c", { updatedAt: 1_000 }),
  record("b", { updatedAt: 2_000, state: "leased", owner: "job", userData: { key: "secret" } }),
  record("uuid", { type: "dt", updatedAt: 5_000, state: "" }),
];
const objects = { resources, lifecycles: [], others: new Map() };

async function inFolder(run: (data: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "berth-import-"));
  try {
    await run(join(folder, "data"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Pool, name, state, holder and user data, in the order in which resources are granted. */
async function contents(data: string): Promise<unknown[]> {
  const journal = SqliteJournal.open(data);
  const broker = await Broker.open(journal, (at) => new SystemEnvironment(at));
  const found = await broker.read(({ pools: all }) =>
    [...all.values()].flatMap(({ members, buckets, name: pool }) => {
      const idle = [...buckets.values()].flatMap((shelf) => [...shelf.idle]);
      const held = [...members].filter(isHeld);
      return [...held, ...idle].map((resource) => [
        ...[pool, resource.name, resource.state],
        exclusiveClaim(resource)?.lease.ask.holder ?? "",
        resource.userData,
      ]);
    }),
  );
  await broker.close();
  await journal.close();
  return found;
}

const carried = [
  ["t", "b", "leased", "job", { key: "secret" }],
  ["t", "c", "free", "", {}],
  ["t", "a", "free", "", {}],
  ["dt", "uuid", "free", "", {}],
  ["dt", expect.stringMatching(/^dt-\d+$/), "free", "", {}],
];

describe("importBoskos()", () => {
  test("imports everything, longest unused first, and then creates missing dynamic resources", () =>
    inFolder(async (data) => {
      const report = await importBoskos({ pools: file, objects, data, dryRun: false });
      expect(report).toEqual({
        resources: 4,
        leases: 1,
        states: { free: 3, leased: 1 },
        unlisted: [],
        already: 0,
        left: [],
      });
      expect(await contents(data)).toEqual(carried);
    }));

  test("is harmless when it runs again", () =>
    inFolder(async (data) => {
      await importBoskos({ pools: file, objects, data, dryRun: false });
      const again = await importBoskos({ pools: file, objects, data, dryRun: false });
      expect(again).toMatchObject({ resources: 3, leases: 0, already: 1, left: [] });
      const found = await contents(data);
      expect(found).toHaveLength(carried.length);
      expect(found).toEqual(expect.arrayContaining(carried));
    }));

  test("changes nothing and creates no folder in a dry run", () =>
    inFolder(async (data) => {
      const dry = await importBoskos({ pools: file, objects, data, dryRun: true });
      expect(dry).toMatchObject({ resources: 4, leases: 1 });
      expect(existsSync(data)).toBe(false);
      await importBoskos({ pools: file, objects, data, dryRun: false });
      const other = { ...objects, resources: [record("a", { state: "dirty" })] };
      await importBoskos({ pools: file, objects: other, data, dryRun: true });
      expect(await contents(data)).toEqual(carried);
    }));

  test("reports resources that the file no longer has, and resources with another holder", () =>
    inFolder(async (data) => {
      await importBoskos({ pools: file, objects, data, dryRun: false });
      const other = [
        record("b", { owner: "another", state: "leased" }),
        record("x", { owner: "job", state: "leased", type: "gone" }),
        record("y"),
      ];
      const report = await importBoskos({
        pools: file,
        objects: { ...objects, resources: other },
        data,
        dryRun: false,
      });
      expect(report).toMatchObject({ leases: 1, unlisted: ["x"] });
      expect(report.left).toEqual([
        { resource: "b", pool: "t", why: "held_already", owner: "another", holder: "job" },
        { resource: "y", pool: "t", why: "not_configured", owner: "", holder: "" },
      ]);
    }));

  test("does not touch a folder that a server uses", () =>
    inFolder(async (data) => {
      const journal = SqliteJournal.open(data);
      for (const dryRun of [true, false]) {
        await expect(importBoskos({ pools: file, objects, data, dryRun })).rejects.toMatchObject({
          name: "JournalUnusable",
        });
      }
      await journal.close();
    }));
});

test("compareLifecycles() reports where the numbers in Boskos differ from the file", () => {
  const lifecycles = [
    { type: "dt", min: 2, max: 3 },
    { type: "dt", min: 1, max: 3 },
    { type: "t", min: 1, max: 2 },
    { type: "old", min: 0, max: 0 },
  ];
  expect(compareLifecycles(lifecycles, file)).toEqual([
    "Boskos kept 1 to 3 of dt, the configuration says 2 to 3",
    "Boskos kept 1 to 2 of t, the configuration has no dynamic ones",
  ]);
});
