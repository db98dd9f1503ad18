/** The past, asked for with the real command line: of a server, and of a data folder without one. */
import { closeSync, cpSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  HistoryEntry,
  SimulatedVariants,
  Simulation,
  Stats,
} from "../src/api/history-schemas.ts";
import { TestServer } from "./cli-processes.ts";

let server: TestServer;
const data = () => join(server.folder, "data");

/** One after the other on one slot, so that the second waits for the first. */
beforeAll(async () => {
  server = await TestServer.start({ slot: { count: 1, ttl: "1h" } });
  const first = server.berth(["run", "--pool", "slot", "--name", "first", "--", "cat"]);
  await first.says(/Acquired/);
  const second = server.berth(["run", "--pool", "slot", "--name", "second", "--", "true"]);
  await second.says(/position 1|waiting/);
  first.child.stdin?.end();
  await Promise.all([first.ended, second.ended]);
});
afterAll(() => server[Symbol.asyncDispose]());

describe("berth history", () => {
  test("lists past leases, the latest first", async () => {
    const found = (await server.json("history")) as HistoryEntry[];
    expect(found).toMatchObject([
      { pool: "slot", resource: "slot-1", how: "released" },
      { pool: "slot", resource: "slot-1", how: "released" },
    ]);
    expect(found[0]?.waitSeconds).toBeGreaterThan(0);
    const { stdout } = await server.done(["history", "--pool", "slot", "--limit", "1"]);
    expect(stdout).toMatch(/^ENDED +HOW +HOLDER +POOL +RESOURCE +WAITED +HELD\n.* released /);
    expect(found.map(({ waitedFor }) => waitedFor)).toEqual(["no_free", null]);
    const wide = await server.done(["history", "-o", "wide"]);
    expect(wide.stdout).toMatch(/ WAITED FOR .*\n.* no_free .*\n.* - /);
  });

  test("reports a misspelt pool, and reports when there is no entry", async () => {
    expect(await server.done(["history", "--pool", "slott"])).toMatchObject({ code: 66 });
    expect((await server.done(["history", "--how", "expired"])).stderr).toContain("No past lease");
    const unknown = await server.done(["history", "--how", "foo"]);
    expect(unknown.code).toBe(64);
    expect(unknown.stderr).toMatch(/there is no end "foo"\n {2}Use one of cancelled, .*released, /);
    expect(await server.done(["history", "--since", "whenever"])).toMatchObject({ code: 64 });
  });
});

test("berth stats prints no table of zeros for a window without leases", async () => {
  const { code, stdout, stderr } = await server.done(["stats", "--until", "2020-01-01T00:00:00Z"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("Nothing was requested or held in this window");
});

describe("berth history and simulate with a janitor", () => {
  test("have cleanings apart, and clean in the replay", async () => {
    const account = { count: 1, onRelease: "dirty", janitor: { command: ["true"] } };
    await using cleaned = await TestServer.start({ account });
    // Each job needs the account that the janitor has cleaned after the job before.
    for (const name of ["one", "two", "three"]) {
      const { code } = await cleaned.done([
        "run",
        "--pool",
        "account",
        "--name",
        name,
        "--",
        "true",
      ]);
      expect(code).toBe(0);
    }
    const jobs = (await cleaned.json("history")) as HistoryEntry[];
    expect(jobs.map(({ purpose }) => purpose)).toEqual(["use", "use", "use"]);
    const cleanings = (await cleaned.json("history", "--cleaning")) as HistoryEntry[];
    expect(cleanings.length).toBeGreaterThanOrEqual(2);
    expect(cleanings[0]).toMatchObject({ purpose: "clean", how: "cleaned", resource: "account-1" });
    const { stdout } = await cleaned.done(["stats", "--pool", "account", "-o", "wide"]);
    expect(stdout).toMatch(/\nall +3 +3 /);
    expect(stdout).toContain("CLEANED");
    const { total } = (await cleaned.json("simulate", "--last", "1h")) as Simulation;
    expect(total.simulated.granted).toBe(3);
    expect(total.simulated.waitSeconds).toEqual(total.recorded.waitSeconds);
  });
});

describe("berth stats", () => {
  test("shows each step and the total", async () => {
    const { stdout } = await server.done(["stats", "--window", "4h", "--step", "1h"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(6);
    expect(stdout).toMatch(/\nall +2 +2 /);
    const found = (await server.json("stats", "--pool", "slot", "--window", "1h")) as Stats;
    expect(found.total).toMatchObject({ asked: 2, granted: 2, ended: 2, expired: 0, left: 0 });
  });
});

describe("berth simulate", () => {
  const more = ["--last", "1h", "--set", "slot.count=2"];

  test("asks the server", async () => {
    const found = (await server.json("simulate", ...more)) as Simulation;
    expect(found.total.recorded.waitSeconds?.max).toBeGreaterThan(0);
    expect(found.total.simulated.waitSeconds?.max).toBe(0);
  });

  test("reads a data folder without a server, whether or not a server uses it", async () => {
    const here = ["simulate", "--from", data(), ...more, "-o", "json"];
    const running = await server.done(here);
    expect(running.code, running.all).toBe(0);
    await server.stop("SIGKILL");
    const stopped = await server.done(here);
    const [one, other] = [running, stopped].map(({ stdout }) => JSON.parse(stdout) as Simulation);
    expect(other).toEqual(one);
    expect(one?.pools).toMatchObject([{ pool: "slot", simulated: { waitSeconds: { max: 0 } } }]);
    await server.start();
    expect(await server.json("history")).toHaveLength(2);
  });

  test("prints recorded and simulated figures, and the limits of the simulation", async () => {
    const { stdout, stderr } = await server.done(["simulate", "--from", data(), ...more]);
    expect(stdout).toMatch(/^POOL +WAIT P50 +P90 +P99 +USED +ENDED\/H\nslot +.* → 0s/);
    expect(stderr).toContain("Limits of the simulation:");
  });

  test("compares several values of a setting, with today marked", async () => {
    const args = ["simulate", "--last", "1h", "--compare", "slot.count=2,1,10"];
    const { stdout, stderr } = await server.done(args);
    expect(stderr).toMatch(/^slot: 2 requests from .*, replayed with each value\n/);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^COUNT +STARTED +WAIT P50 +P90 +P99 +USED +ENDED\/H$/);
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(["1 (today)", "2", "10"]);
    expect(rows[1]).toMatch(/^2 +2 of 2 +0s +0s +0s /);
    expect(rows[0]).not.toMatch(/^1 \(today\) +2 of 2 +0s +0s +0s /);
    const other = await server.done([...args.slice(0, 4), "slot.count=2"]);
    expect(other.stdout).toMatch(/\n1 \(today\) .*\n2 /);
    const json = (await server.json(...args)) as SimulatedVariants;
    expect(json.variants.map(({ set }) => set)).toEqual([
      ...[[], ["slot.count=2"], ["slot.count=1"], ["slot.count=10"]],
    ]);
  });

  test.each([
    [["--compare", "slot.count=1,,2"], 64, "a value is empty"],
    [["--compare", "slot.count=1,2", "--from", "x"], 64, "--from"],
    [["--from", "nowhere"], 66, "Cannot read the journal"],
    [["--set", "slot.count=lots"], 64, "slot.count"],
    [["--set", "slot"], 64, "POOL.KEY=VALUE"],
    [["--config", "x.yaml"], 64, "--from"],
    [["--last", "long"], 64, "duration"],
  ])("refuses %j with %i", async (args, code, words) => {
    const ended = await server.done(["simulate", ...args]);
    expect(ended.code, ended.all).toBe(code);
    expect(ended.stderr).toContain(words);
  });

  test("names a history that is damaged", async () => {
    const copy = join(server.folder, "damaged");
    cpSync(data(), copy, { recursive: true });
    const file = openSync(join(copy, "history.db"), "r+");
    writeSync(file, Buffer.alloc(65_536), 0, undefined, 4_096);
    closeSync(file);
    rmSync(join(copy, "history.db-wal"), { force: true });
    const ended = await server.done(["simulate", "--from", copy]);
    expect(ended.code, ended.all).not.toBe(0);
    expect(ended.stderr).toContain("Cannot read the history");
    expect(ended.stderr).not.toContain("bug");
  });

  test("reads all pools from another file", async () => {
    const config = join(server.folder, "berth.yaml");
    const same = ["simulate", "--from", data(), "--last", "1h", "--config", config, "-o", "json"];
    const { total } = JSON.parse((await server.done(same)).stdout) as Simulation;
    expect(total.simulated).toEqual(total.recorded);
  });
});
