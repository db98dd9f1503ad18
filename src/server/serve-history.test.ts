/** Runs the whole server with its history file. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Running, type ServeOptions, serve } from "./main.ts";

const fixture = new URL("../../test/fixtures/history-in-journal/", import.meta.url).pathname;

let folder: string;
let data: string;
const running: Running[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-serve-history-"));
  data = join(folder, "data");
  await mkdir(data);
  await writeFile(join(folder, "berth.yaml"), "pools: { aws: { count: 2 }, gcp: { count: 1 } }");
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
  await rm(folder, { recursive: true });
});

async function start(more: Partial<ServeOptions> = {}): Promise<Running> {
  const server = await serve({
    ...{ config: join(folder, "berth.yaml"), data, memory: false, listen: "127.0.0.1:0" },
    ...{ insecureListen: false, logLevel: "silent", historyRetentionMs: 1e14, ...more },
  });
  running.push(server);
  return server;
}

/** Acquires and releases one lease. */
async function lend({ url }: Running): Promise<number[]> {
  const granted = await fetch(`${url}/v1/leases`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ items: [{ pool: "aws" }], holder: "a job" }),
  });
  const { id, token } = (await granted.json()) as { id: string; token: string };
  const headers = { authorization: `Bearer ${token}` };
  const released = await fetch(`${url}/v1/leases/${id}`, { method: "DELETE", headers });
  return [granted.status, released.status];
}

async function history({ url }: Running) {
  const response = await fetch(`${url}/v1/history?limit=1000`);
  const body = (await response.json()) as { items?: unknown[]; code?: string };
  return { status: response.status, ...body };
}

describe("serve() on the data folder of an older Berth with history in the journal file", () => {
  test("has all finished leases, and removes the history from the journal", async () => {
    await cp(fixture, data, { recursive: true });
    const first = await start();
    const recorded = JSON.parse(await readFile(join(fixture, "history.json"), "utf8")) as object[];
    // Older entries have no amounts.
    const written = recorded.map((entry) => ({ ...entry, purpose: "use", amount: null }));
    expect((await history(first)).items).toEqual(written);
    expect((await readdir(data)).sort()).toContain("history.db");
    await first.stop();
    using journal = new DatabaseSync(join(data, "journal.db"), { readOnly: true });
    const tables = journal.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    expect(tables.map(({ name }) => name).sort()).toEqual(["journal", "meta", "snapshot"]);
    expect((await history(await start())).items).toEqual(written);
  });
});

describe("serve() with an unusable history file", () => {
  test.each([
    ["is damaged", (path: string) => writeFile(path, "no database".repeat(1_000))],
    ["is a folder", (path: string) => mkdir(path)],
    ["belongs to another program", (path: string) => another(path)],
  ])("still grants leases if the file %s", async (_, spoil) => {
    await spoil(join(data, "history.db"));
    const server = await start();
    expect(await lend(server)).toEqual([201, 204]);
    expect(await history(server)).toMatchObject({ status: 503, code: "history_unavailable" });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(Number(/^berth_history_lag_events (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  });

  test("still grants leases if the file is damaged while the server runs", async () => {
    const server = await start();
    expect(await lend(server)).toEqual([201, 204]);
    expect((await history(server)).items).toHaveLength(1);
    await server.stop();
    const path = join(data, "history.db");
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0x55, 4_096)); // All but the first page.
    const next = await start();
    expect(await lend(next)).toEqual([201, 204]);
    expect(await history(next)).toMatchObject({ status: 503, code: "history_unavailable" });
  });

  test("builds the file again from the journal on request", async () => {
    const before = await start();
    expect(await lend(before)).toEqual([201, 204]);
    await before.stop();
    await writeFile(join(data, "history.db"), "no database".repeat(1_000));
    const server = await start({ rebuildHistory: true });
    expect((await history(server)).items).toHaveLength(1);
  });
});

function another(path: string): Promise<void> {
  using database = new DatabaseSync(path);
  database.exec("CREATE TABLE theirs (a)");
  return Promise.resolve();
}
