/** A hurt data folder, with the real command line: checked, and refused by the server. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

let server: TestServer;
const data = () => join(server.folder, "data");

beforeEach(async () => {
  server = await TestServer.start({ slot: { count: 1, ttl: "1h" } });
  await server.done(["run", "--pool", "slot", "--", "true"]);
});
afterEach(() => server[Symbol.asyncDispose]());

const check = () => server.done(["journal", "check", "--data", data()]);
const serve = () => server.done(["serve", "--data", data(), "--listen", "127.0.0.1:0"]);

test("berth journal check finds a good journal, and refuses that of a running server", async () => {
  expect(await check()).toMatchObject({ code: 69, stderr: expect.stringContaining("locked") });
  await server.stop();
  expect(await check()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/journal\.db is good: events 1 to \d+, \d+ commits, a snapshot/),
  });
  const { code } = await server.done(["journal", "check", "--data", join(data(), "none")]);
  expect(code).toBe(66);
});

test("berth journal check and berth serve report a damaged commit", async () => {
  await server.stop("SIGKILL");
  using database = new DatabaseSync(join(data(), "journal.db"));
  database.exec("UPDATE journal SET at = at - 1 WHERE seq = (SELECT max(seq) FROM journal)");
  expect(await check()).toMatchObject({
    code: 65,
    stdout: expect.stringMatching(/is damaged.*\n {2}events? .*: its checksum does not match\n/),
  });
  expect(await serve()).toMatchObject({
    code: 69,
    stderr: expect.stringMatching(/its checksum does not match.*\n.*berth journal check/),
  });
});

test("berth serve does not start without the log of a killed server", async () => {
  await server.stop("SIGKILL");
  rmSync(join(data(), "journal.db-wal"));
  expect(await serve()).toMatchObject({
    code: 69,
    stderr: expect.stringMatching(/missing at its end\n.*delete ".*journal\.head"/),
  });
});

test("berth journal skip makes a folder usable again, and only with --yes", async () => {
  await server.stop("SIGKILL");
  const database = new DatabaseSync(join(data(), "journal.db"));
  database.exec("UPDATE journal SET events = '[' WHERE seq = (SELECT max(seq) FROM journal)");
  database.close();
  const skip = (...flags: string[]) => server.done(["journal", "skip", "--data", data(), ...flags]);
  expect(await check()).toMatchObject({
    code: 65,
    stdout: expect.stringContaining("berth journal skip --data"),
  });
  expect(await skip()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/opens without \d+ events?:\n.*Lost: .*\nTo skip .* --yes/s),
  });
  expect(await check()).toMatchObject({ code: 65 });
  expect(await skip("--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Skipped .*They are kept in .*skipped-events-.*\.jsonl/s),
  });
  expect(await check()).toMatchObject({ code: 0 });
  await server.start();
  // The skipped event was the end of the lease, so it is still held.
  expect((await server.done(["leases"])).stdout).toContain("slot-1");
});
