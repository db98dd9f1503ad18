import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { describe, expect, test } from "vitest";
import type { BrokerOptions } from "../broker/broker-contract.ts";
import { until } from "../broker/hand-clock.suite.ts";
import { openBroker, type TestBroker } from "../broker/test-broker.suite.ts";
import type { BoskosExpiry } from "../config/check-pools.ts";
import type { Pool } from "../core/model/state.ts";
import { JournalConflict, JournalUnavailable } from "../journal/journal.ts";
import { ConfigInForce } from "./config-in-force.ts";

interface Setup extends TestBroker, AsyncDisposable {
  readonly file: string;
  write(text: string): Promise<void>;
  start(expiry?: BoskosExpiry): Promise<ConfigInForce>;
}

async function setup(text: string, options: Partial<BrokerOptions> = {}): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), "berth-config-"));
  const file = join(folder, "berth.yaml");
  const write = async (content: string) => {
    await writeFile(`${file}.new`, content);
    await rename(`${file}.new`, file);
  };
  await write(text);
  const test = await openBroker(options);
  const started: ConfigInForce[] = [];
  return {
    ...test,
    file,
    write,
    async start(expiry) {
      const logger = pino({ level: "silent" });
      const config = await ConfigInForce.start(file, test.broker, logger, { expiry });
      started.push(config);
      return config;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((config) => config.close()));
      await test.broker.close();
      await rm(folder, { recursive: true });
    },
  };
}

const names = (broker: TestBroker["broker"]) =>
  broker.read((state) => [...state.pools.keys()].sort());

describe("ConfigInForce", () => {
  test("removes many resources in steps, so that other commands are decided in between", async () => {
    await using all = await setup("pools: { aws: { count: 7000 }, gcp: { count: 1 } }");
    const config = await all.start();
    const before = all.journal.appends.length;
    await all.write("pools: { aws: { count: 500 }, gcp: { count: 1 } }");
    await config.reload();
    const counts = await all.broker.read(({ resources }) => resources.size);
    expect(counts).toBe(501);
    const sizes = all.journal.appends.slice(before).map((events) => events.length);
    expect(sizes.filter((size) => size > 0)).toEqual([2_000, 2_000, 2_000, 500]);
  });

  test("refuses a file without auth once there was one", async () => {
    const auth = "auth: { anonymous: { space: all, role: viewer } }";
    await using all = await setup(`pools: { aws: { count: 1 } }\n${auth}`);
    const config = await all.start();
    await all.write("pools: { aws: { count: 2 } }");
    await config.reload();
    expect(config.status).toMatchObject({
      ok: false,
      problems: [expect.stringContaining("it has no auth, and the file before it had")],
    });
    expect(config.auth).toBeDefined();
  });

  test("waits with the file if another server begins to lead, and is not refused", async () => {
    await using all = await setup("pools: { aws: { count: 1 } }", {
      onConflict: () => "step-down",
    });
    const config = await all.start();
    await all.write("pools: { gcp: { count: 1 } }");
    all.journal.appendFails = new JournalConflict("Cannot append: another replica leads");
    await config.reload();
    expect(all.broker.mode).toBe("standby");
    expect(config.status).toMatchObject({ ok: true, problems: [], pools: 1 });
    all.journal.appendFails = undefined;
    await all.broker.lead();
    config.retry();
    await config.close();
    expect(await names(all.broker)).toEqual(["gcp"]);
  });

  test("applies the file and logs it", async () => {
    await using all = await setup("pools: { aws: { count: 2 }, gcp: { members: [g] } }");
    const config = await all.start();
    expect(await names(all.broker)).toEqual(["aws", "gcp"]);
    expect(config.status).toMatchObject({
      file: all.file,
      ok: true,
      pools: 2,
      resources: 3,
      problems: [],
    });
  });

  test("does not start with an invalid file", async () => {
    await using all = await setup("pools: { aws: { count: many } }");
    await expect(all.start()).rejects.toMatchObject({
      name: "CannotServe",
      exitCode: 78,
      message: expect.stringContaining("count"),
      hint: expect.stringContaining("berth config check"),
    });
    expect(await names(all.broker)).toEqual([]);
  });

  test("does not start without a file", async () => {
    await using all = await setup("");
    await rm(all.file);
    await expect(all.start()).rejects.toMatchObject({ name: "CannotServe", exitCode: 78 });
  });

  test("applies changes of the file", async () => {
    await using all = await setup("pools: { aws: { count: 2 } }");
    const config = await all.start();
    await all.write("pools: { gcp: { count: 1 } }");
    await until(() => config.status.pools === 1 && config.status.resources === 1);
    expect(await names(all.broker)).toEqual(["gcp"]);
  });

  test("keeps the old configuration if the new file is invalid, and recovers", async () => {
    await using all = await setup("pools: { aws: { count: 2 } }");
    const config = await all.start();
    await all.write("pools: { aws: { count: -1 } }");
    await config.reload();
    expect(config.status).toMatchObject({ ok: false, pools: 1, resources: 2 });
    expect(config.status.problems).not.toEqual([]);
    expect(await names(all.broker)).toEqual(["aws"]);
    await all.write("pools: { aws: { count: 3 } }");
    await config.reload();
    expect(config.status).toMatchObject({ ok: true, resources: 3, problems: [] });
  });

  test("reports that a valid file could not be applied", async () => {
    await using all = await setup("pools: { aws: { count: 2 } }");
    const config = await all.start();
    all.journal.appendFails = new JournalUnavailable("Cannot append: the disk is full");
    await all.write("pools: { gcp: { count: 3 } }");
    await config.reload();
    expect(config.status).toMatchObject({ ok: false, resources: 2 });
    expect(await names(all.broker)).toEqual(["aws"]);
  });

  test("who may call counts at once, also if the rest of the file cannot be applied", async () => {
    const file = (name: string) => {
      const token = `{ name: ${name}, sha256: "${"0".repeat(64)}", space: s, role: viewer }`;
      return `pools: { aws: { count: 2 } }\nauth: { tokens: [${token}] }`;
    };
    await using all = await setup(file("before"));
    const config = await all.start();
    const seen: unknown[] = [];
    config.onChange = () => seen.push(config.auth?.tokens.map(({ name }) => name));
    all.journal.appendFails = new JournalUnavailable("Cannot append: the disk is full");
    await all.write(`${file("after")}`.replace("count: 2", "count: 3"));
    await config.reload();
    expect(seen).toEqual([["after"]]);
    config.beforeChange = () => {
      throw new Error("ENOSPC: no space left on device");
    };
    await all.write(file("last"));
    await config.reload();
    expect(seen).toEqual([["after"], ["last"]]);
    expect(config.status).toMatchObject({ ok: false, resources: 2 });
  });

  const expiry = { afterMs: 60_000, to: "dirty", moreStates: [] };

  test("expires the resources of a Boskos file if configured, also after reloads", async () => {
    await using all = await setup("resources: [{ type: aws, names: [a] }]");
    const config = await all.start(expiry);
    const silence = () => all.broker.read(({ pools }) => [...pools.values()].map(busyExpiry));
    expect(await silence()).toEqual([{ afterMs: 60_000, to: "dirty" }]);
    await all.write("resources: [{ type: aws, names: [a] }, { type: gcp, max-count: 2 }]");
    await config.reload();
    expect(await silence()).toEqual(Array(2).fill({ afterMs: 60_000, to: "dirty" }));
    expect(config.status.warnings).toEqual([]);
  });

  test("reports that the expiry has no effect for the file", async () => {
    await using all = await setup("pools: { aws: { count: 2 } }");
    const config = await all.start(expiry);
    expect(config.status.warnings).toEqual([expect.stringMatching(/^--boskos-expire changes/)]);
  });
});

function busyExpiry({ policy }: Pool) {
  return policy.silence?.["busy"];
}
