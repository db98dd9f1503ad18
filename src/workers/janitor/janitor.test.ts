import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Broker } from "../../broker/broker.ts";
import { SystemEnvironment } from "../../broker/environment.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { MemoryJournal } from "../../journal/memory.ts";
import { BrokerWork } from "./broker-work.ts";
import type { CleaningResult, CleaningSpec, DirtyResource } from "./cleaner.ts";
import { Janitor } from "./janitor.ts";

let broker: Broker;
let folder: string;
let janitor: Janitor | undefined;
let news: { soiled: DirtyResource; cleaned: CleaningResult }[];
let tell: () => void;

beforeEach(async () => {
  broker = await Broker.open(new MemoryJournal(), (at) => new SystemEnvironment(at));
  folder = await mkdtemp(join(tmpdir(), "berth-janitor-"));
  news = [];
  tell = () => {};
});

afterEach(async () => {
  await janitor?.stop();
  await broker.close();
  await rm(folder, { recursive: true });
});

function dirtyPool(name: string, size: number, policy: PoolSpec["policy"] | object = {}): PoolSpec {
  const spec = pool(name, size, policy);
  return { ...spec, members: spec.members.map((member) => ({ ...member, state: "dirty" })) };
}

/** A pool that a shell script cleans. */
function cleaning(name: string, script: string, more: Partial<CleaningSpec> = {}): CleaningSpec {
  const command = ["sh", "-c", script];
  return { pool: name, command, timeoutMs: 60_000, parallel: 1, env: {}, ...more };
}

async function start(pools: readonly PoolSpec[], specs: readonly CleaningSpec[], parallel = 8) {
  await broker.submit({ type: "configure", pools });
  janitor = new Janitor(new BrokerWork(broker), specs, {
    parallel,
    finished: (soiled, cleaned) => {
      news.push({ soiled, cleaned });
      tell();
    },
  });
  return janitor;
}

/** Resolves once `count` cleaning commands have finished. */
function finished(count: number): Promise<void> {
  return new Promise((resolve) => {
    tell = () => {
      if (news.length >= count) resolve();
    };
    tell();
  });
}

const look = (name: string) =>
  broker.read(({ resources }) => {
    const resource = resources.get(name as ResourceName);
    if (resource === undefined) throw new Error(`Cannot find ${name}`);
    const { state, note, failures, restsUntil } = resource;
    return { state, note, failures, rests: Number.isFinite(restsUntil) };
  });

describe("a janitor", () => {
  test("cleans every dirty resource, also those that become dirty later", async () => {
    await start([dirtyPool("aws", 3)], [cleaning("aws", "true")]);
    await finished(3);
    const states = await broker.read(({ pools }) =>
      pools.get("aws" as PoolName)?.shown.get("free"),
    );
    expect(states).toBe(3);
    const change = { state: "dirty" };
    const reason = { by: "ann", why: "" };
    const resource = "aws-2" as ResourceName;
    await broker.submit({ type: "change-resource", resource, change, reason });
    await finished(4);
    expect(await look("aws-2")).toMatchObject({ state: "free" });
  });

  test("passes the resource and the mapped variables to the command, and no others", async () => {
    process.env["BERTH_TEST_SECRET_OF_SERVER"] = "hidden";
    const out = join(folder, "env");
    const script = `env > "${out}"`;
    const env = { KEY: { userData: "access-key" }, REGION: "eu-1", MISSING: { userData: "no" } };
    await broker.submit({ type: "configure", pools: [pool("aws", 1)] });
    await broker.submit({
      type: "change-resource",
      resource: "aws-1" as ResourceName,
      change: { state: "dirty", userData: { "access-key": "AK-123456", other: "unmapped" } },
      reason: { by: "ann", why: "" },
    });
    await start([pool("aws", 1)], [cleaning("aws", script, { env })]);
    await finished(1);
    delete process.env["BERTH_TEST_SECRET_OF_SERVER"];
    const lines = (await readFile(out, "utf8")).split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "BERTH_RESOURCE=aws-1",
        "BERTH_POOL=aws",
        "KEY=AK-123456",
        "REGION=eu-1",
      ]),
    );
    expect(lines.join("\n")).not.toMatch(/unmapped|hidden|MISSING/);
  });

  test("cools a resource down after a failure, and quarantines it after its retries with the last output", async () => {
    const policy = { cleaning: { retries: 2, backoffMs: 10 } };
    const script = "echo one; echo the bucket is not empty >&2; exit 3";
    await start([dirtyPool("aws", 1, policy)], [cleaning("aws", script)]);
    await finished(2);
    const resource = await look("aws-1");
    expect(resource).toMatchObject({ state: "quarantined", failures: 2 });
    expect(resource.note).toContain("The command exited with 3");
    expect(resource.note).toContain("the bucket is not empty");
  });

  test("masks the user data in the output", async () => {
    const env = { KEY: { userData: "key" } };
    await broker.submit({ type: "configure", pools: [pool("aws", 1)] });
    await broker.submit({
      type: "change-resource",
      resource: "aws-1" as ResourceName,
      change: { state: "dirty", userData: { key: "very-secret-key" } },
      reason: { by: "ann", why: "" },
    });
    const policy = { cleaning: { retries: 1, backoffMs: 10 } };
    await start([pool("aws", 1, policy)], [cleaning("aws", 'echo "with $KEY"; exit 1', { env })]);
    await finished(1);
    const { note } = await look("aws-1");
    expect(note).toContain("with ***");
    expect(note).not.toContain("very-secret-key");
  });

  test.each([
    ["NUL", "s3cret\0value", "a variable or an argument has a NUL character"],
    [
      "more than a variable may have",
      "s3cret".repeat(40_000),
      "its variables and arguments are too long",
    ],
  ])(
    "quarantines a resource whose user data has %s, and cleans the others",
    async (_, key, why) => {
      const policy = { cleaning: { retries: 1, backoffMs: 10 } };
      const pools = [pool("aws", 2, policy)];
      await broker.submit({ type: "configure", pools });
      // A journal of an older version may have such values; today every edge refuses them.
      await broker.submit({
        type: "import",
        resources: ["aws-1", "aws-2"].map((name) => ({
          ...{ name: name as ResourceName, pool: "aws" as PoolName, state: "dirty", holder: "" },
          ...{ userData: { key: name === "aws-1" ? key : "fine" }, id: "i" as RequestId },
        })),
      });
      await start(pools, [cleaning("aws", "true", { env: { KEY: { userData: "key" } } })]);
      await finished(2);
      expect(await look("aws-2")).toMatchObject({ state: "free" });
      const resource = await look("aws-1");
      expect(resource).toMatchObject({ state: "quarantined", note: `Cannot run sh: ${why}` });
      expect(JSON.stringify(news.map(({ cleaned }) => cleaned))).not.toContain("s3cret");
    },
  );

  test("keeps only the end of a long output", async () => {
    const policy = { cleaning: { retries: 1, backoffMs: 10 } };
    const script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1";
    await start([dirtyPool("aws", 1, policy)], [cleaning("aws", script)]);
    await finished(1);
    const { note } = await look("aws-1");
    expect(note.length).toBeLessThan(4_200);
    expect(note).toContain("line 19999");
  });

  test("stops a command at its timeout, with every process that it started", async () => {
    const pid = join(folder, "pid");
    const script = `sleep 600 & echo $! > "${pid}"; wait`;
    const policy = { cleaning: { retries: 1, backoffMs: 10 } };
    await start([dirtyPool("aws", 1, policy)], [cleaning("aws", script, { timeoutMs: 300 })]);
    await finished(1);
    expect((await look("aws-1")).note).toContain("stopped at its timeout");
    expect(existsSync(`/proc/${(await readFile(pid, "utf8")).trim()}/exe`)).toBe(false);
  });

  test("takes pools in turn, so that a pool with much work does not delay another", async () => {
    const specs = [cleaning("big", "true"), cleaning("small", "true")];
    await start([dirtyPool("big", 6), dirtyPool("small", 2)], specs, 1);
    await finished(8);
    const order = news.map(({ soiled }) => soiled.pool);
    expect(order.slice(0, 4)).toEqual(["big", "small", "big", "small"]);
  });

  test("runs at most as many commands at once as the pool allows", async () => {
    const marks = join(folder, "m");
    const script = `mkdir "${marks}" || { echo two at once; exit 1; }; sleep 0.05; rmdir "${marks}"`;
    await start([dirtyPool("aws", 4)], [cleaning("aws", script)]);
    await finished(4);
    expect(news.map(({ cleaned }) => cleaned.how)).toEqual(["clean", "clean", "clean", "clean"]);
  });

  test("stops its commands when it is stopped, and leaves the resources dirty", async () => {
    const started = join(folder, "started");
    const policy = { cleaning: { retries: 1, backoffMs: 10 } };
    const pools = [dirtyPool("aws", 1, policy)];
    const it = await start(pools, [cleaning("aws", `touch "${started}"; sleep 600`)]);
    await expect.poll(() => existsSync(started)).toBe(true);
    await it.stop();
    expect(await look("aws-1")).toMatchObject({ state: "dirty", failures: 0 });
  });

  test("reports that the command does not exist", async () => {
    const policy = { cleaning: { retries: 1, backoffMs: 10 } };
    const spec = { ...cleaning("aws", ""), command: ["/nowhere/clean.sh"] };
    await start([dirtyPool("aws", 1, policy)], [spec]);
    await finished(1);
    expect(await look("aws-1")).toMatchObject({ state: "quarantined" });
    expect((await look("aws-1")).note).toContain("Cannot run /nowhere/clean.sh");
  });

  test("resets the failure count after a successful cleaning", async () => {
    const once = join(folder, "once");
    const policy = { cleaning: { retries: 3, backoffMs: 10 } };
    const script = `test -e "${once}" || { touch "${once}"; exit 1; }`;
    await start([dirtyPool("aws", 1, policy)], [cleaning("aws", script)]);
    await finished(2);
    expect(await look("aws-1")).toMatchObject({ state: "free", failures: 0, note: "" });
  });
});
