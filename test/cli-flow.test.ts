/** `refresh`, `signal`, `pin` and `unpin` as a job and an operator type them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BerthClient, type HeldLease } from "../src/client/berth-client.ts";
import { berthPath, Process, TestServer } from "./cli-processes.ts";
import { CuttingProxy } from "./cutting-proxy.suite.ts";
import { olderServer } from "./older-server.ts";

const adaptive = { min: 0.5, max: 60 };
const pools = {
  account: { members: ["acc-1", "acc-2"], lockDelay: "0s" },
  install: { members: ["slot-1"], lockDelay: "0s" },
  paced: { count: 9, lockDelay: "0s", pace: { every: "1s" }, adaptive },
  shared: { limit: 9, pace: { every: "1h" } },
  east: { count: 2, lockDelay: "0s", parent: "shared" },
  west: { count: 2, lockDelay: "0s", parent: "shared" },
};
let server: TestServer;
let client: BerthClient;
beforeAll(async () => {
  server = await TestServer.start(pools);
  client = new BerthClient({ url: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());
/** What a test has left behind is not the next one's concern. */
afterEach(async () => {
  await server.endCommands();
  for (const { id } of await client.everyLease()) {
    await client.revoke(id, { reason: "the test is over", by: "test", gone: true });
  }
});

const lend = (...names: string[]): Promise<HeldLease> =>
  client.acquire({ items: names.map((pool) => ({ pool })), holder: "job/1" });
const proof = ({ id, token }: HeldLease) => ({ BERTH_LEASE_ID: id, BERTH_TOKEN: token });
const resourcesOf = ({ claims }: Pick<HeldLease, "claims">) =>
  claims.map(({ resource }) => resource);
const held = async () => (await client.everyLease()).map(resourcesOf);

describe("berth refresh", () => {
  test("releases the lease and prints a new one for the same pools", async () => {
    const lease = await lend("install");
    const { code, stdout } = await server.done(["refresh"], proof(lease));
    const again = JSON.parse(stdout) as HeldLease;
    expect(code).toBe(0);
    expect(again).toMatchObject({ holder: "job/1", claims: [{ resource: "slot-1" }] });
    expect(again.id).not.toBe(lease.id);
    expect((await server.done(["heartbeat"], proof(lease))).code).toBe(76);
    expect((await server.done(["heartbeat"], proof(again))).code).toBe(0);
  });

  test("takes id and token from its arguments or from a file, and prints in each format", async () => {
    const lease = await lend("install");
    const named = await server.done(["refresh", lease.id, "--token", lease.token, "-o", "yaml"]);
    expect(named.stdout).toContain("resource: slot-1");
    const [, id = ""] = /^id: (\S+)$/m.exec(named.stdout) ?? [];
    const [, token = ""] = /^token: (\S+)$/m.exec(named.stdout) ?? [];
    const file = join(server.folder, "lease.json");
    await writeFile(file, JSON.stringify({ id, token }));
    const env = await server.done(["refresh", "--file", file, "-o", "env"]);
    expect(env.stdout).toMatch(/^export BERTH_LEASE_ID=\S+ .*BERTH_RESOURCE_INSTALL=slot-1/);
    const [, last = ""] = /BERTH_LEASE_ID=(\S+)/.exec(env.stdout) ?? [];
    const [, proven = ""] = /BERTH_TOKEN=(\S+)/.exec(env.stdout) ?? [];
    const name = await server.done(["refresh", last, "--token", proven, "-o", "name"]);
    expect(name.stdout).toMatch(/^[0-9a-z]+\n$/);
    expect(await held()).toEqual([["slot-1"]]);
  });

  test("--pool keeps the other claims of the lease", async () => {
    const lease = await lend("account", "install");
    const { stdout } = await server.done(["refresh", "--pool", "install"], proof(lease));
    expect(resourcesOf(JSON.parse(stdout) as HeldLease)).toEqual(["slot-1"]);
    expect(await held()).toEqual([["acc-1"], ["slot-1"]]);
  });

  test("--request-id returns the same lease when it is sent again", async () => {
    const lease = await lend("install");
    const args = ["refresh", "--request-id", "build/2", "-o", "name"];
    const [first, second] = [
      await server.done(args, proof(lease)),
      await server.done(args, proof(lease)),
    ];
    expect([second.code, second.stdout]).toEqual([0, first.stdout]);
  });

  test("goes to the end of the queue, shows its position, and is granted in order", async () => {
    const lease = await lend("install");
    const other = server.berth(["run", "--pool", "install", "--", "sh", "-c", "echo in; read x"]);
    await other.says(/position 1/);
    const again = server.berth(["refresh"], proof(lease));
    await other.says(/in\n/);
    await again.says(/position 1/);
    other.type("\n");
    expect(await again.ended).toBe(0);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves the queue after %s", async (signal, code) => {
    const lease = await lend("install");
    const ask = { items: [{ pool: "install" }], holder: "other" };
    const other = client.acquire(ask);
    await expect.poll(async () => (await client.everyRequest()).length).toBe(1);
    const again = server.berth(["refresh"], proof(lease));
    await again.says(/position 1/);
    again.signal(signal);
    expect(await again.ended).toBe(code);
    expect(await server.json("queue")).toEqual([]);
    expect(await held()).toEqual([["slot-1"]]);
    expect((await other).holder).toBe("other");
  });

  test("--timeout leaves the queue with exit code 75", async () => {
    const lease = await lend("install");
    const waiting = client.acquire({ items: [{ pool: "install" }], holder: "other" });
    await expect.poll(async () => (await client.everyRequest()).length).toBe(1);
    const again = await server.done(["refresh", "--timeout", "0"], proof(lease));
    expect(again.code).toBe(75);
    await waiting;
    expect(await server.json("queue")).toEqual([]);
  });

  test("releases the new lease if it cannot be printed", async () => {
    const script = `${berthPath} refresh > /dev/full`;
    const env = { ...process.env, BERTH_URL: server.url, ...proof(await lend("install")) };
    const shell = new Process("bash", ["-c", script], env);
    expect(await shell.ended).toBe(1);
    expect(shell.stderr).toContain("Cannot print the lease: ");
    expect(await held()).toEqual([]);
  });

  test("gets one lease if the reply to its first try is lost", async () => {
    const lease = await lend("install");
    await using between = await CuttingProxy.start(() => Number(new URL(server.url).port));
    const lost = between.cutAt({ at: "reply", count: 1 });
    const again = server.berth(["refresh", "--server", between.url], proof(lease));
    await lost;
    between.drop();
    await again.says(/retrying/);
    between.resume();
    expect(await again.ended).toBe(0);
    expect(between.cuts).toBe(1);
    expect((await client.everyLease()).map(({ id }) => id)).toEqual([
      (JSON.parse(again.stdout) as HeldLease).id,
    ]);
  });

  const wrong: Record<string, { args: string[]; code: number; says: string }> = {
    "no lease": { args: [], code: 64, says: "Cannot refresh: no lease is given" },
    "no token": { args: ["abc"], code: 64, says: "Cannot refresh abc: its token is missing" },
    "an unknown format": { args: ["-o", "wide"], code: 64, says: "Use json, yaml" },
    "a bad request id": { args: ["--request-id", "-"], code: 64, says: "--request-id" },
    "a server that does not answer": {
      args: [...["abc", "--token", "x", "--server", "http://127.0.0.1:9"], "--connect-timeout=0"],
      code: 69,
      says: "Cannot reach the server at http://127.0.0.1:9",
    },
  };
  test.each(Object.entries(wrong))("refuses %s", async (_, { args, code, says }) => {
    const refused = await server.done(["refresh", ...args]);
    expect(refused.stderr).toContain(says);
    expect(refused).toMatchObject({ code, stdout: "" });
  });

  test("refuses a lease that has ended, a pool that is not in the lease, and a request id that is in use", async () => {
    const ask = { items: [{ pool: "install" }], holder: "job/1", requestId: "build/3" };
    const lease = await client.acquire(ask);
    const pool = await server.done(["refresh", "--pool", "account"], proof(lease));
    expect([pool.code, pool.stderr]).toEqual([66, expect.stringContaining("account")]);
    const own = await server.done(["refresh", "--request-id", "build/3"], proof(lease));
    expect([own.code, own.stderr]).toEqual([77, expect.stringContaining("--request-id")]);
    expect(await held()).toEqual([["slot-1"]]);
    await client.release(lease);
    const over = await server.done(["refresh"], proof(lease));
    expect([over.code, over.stderr]).toEqual([76, expect.stringContaining("Stop using")]);
  });
});

describe("berth signal", () => {
  const flowOf = async () => (await client.pool("paced")).flow;

  test("reports throttling with evidence, and that the provider did not throttle", async () => {
    const lease = await lend("paced");
    const before = (await flowOf())?.reports;
    const args = ["signal", "--throttled", "--evidence", "Rate exceeded"];
    const told = await server.done(args, proof(lease));
    expect(told).toMatchObject({ code: 0, stdout: "" });
    expect(told.stderr).toBe(`Reported throttling for ${lease.id}\n`);
    const ok = await server.done(["signal", lease.id, "--token", lease.token, "--ok"]);
    expect(ok.stderr).toBe(`Reported no throttling for ${lease.id}\n`);
    expect((await flowOf())?.reports).toEqual({
      throttled: (before?.throttled ?? 0) + 1,
      ok: (before?.ok ?? 0) + 1,
    });
    const { changes } = await client.limitHistory("paced");
    expect(changes.at(-1)).toMatchObject({ cause: "throttled", why: "Rate exceeded" });
  });

  test("--pool reports for one pool only, with a lease file", async () => {
    const lease = await lend("account", "paced");
    const file = join(server.folder, "signal.json");
    await writeFile(file, JSON.stringify(lease));
    const before = await client.pool("account");
    const args = ["signal", "--file", file, "--ok", "--pool", "paced"];
    expect((await server.done(args)).code).toBe(0);
    expect((await client.pool("account")).flow).toEqual(before.flow);
    const none = await server.done([...args.slice(0, -1), "install"]);
    expect([none.code, none.stderr]).toEqual([66, expect.stringContaining("install")]);
  });

  test("can be sent together with a release", async () => {
    const lease = await lend("paced");
    const before = (await flowOf())?.reports.throttled ?? 0;
    const args = ["release", "--throttled", "--evidence", "429"];
    expect((await server.done(args, proof(lease))).code).toBe(0);
    expect((await flowOf())?.reports.throttled).toBe(before + 1);
    expect(await held()).toEqual([]);
  });

  const wrong: Record<string, { args: string[]; says: string }> = {
    "nothing to report": {
      args: ["signal", "x"],
      says: "Cannot signal: there is nothing to report",
    },
    both: {
      args: ["signal", "x", "--ok", "--throttled"],
      says: "Cannot signal: both --throttled and --ok are given\n  Use either --throttled or --ok",
    },
    "evidence of nothing": {
      args: ["release", "x", "--evidence", "429"],
      says: "Cannot release: --evidence is given without --throttled or --ok",
    },
    "empty evidence": { args: ["signal", "x", "--ok", "--evidence", " "], says: "--evidence" },
    "no lease": { args: ["signal", "--ok"], says: "Cannot signal: no lease is given" },
    "a report of one claim": {
      args: ["release", "x", "--claim", "1", "--ok"],
      says: "Cannot use --ok with --claim\n  Report it with berth signal --pool POOL",
    },
    "a report for somebody else": {
      args: ["release", "x", "--force", "--reason", "test", "--throttled"],
      says: "Cannot use --throttled with --force",
    },
  };
  test.each(Object.entries(wrong))("refuses %s", async (_, { args, says }) => {
    const refused = await server.done(args);
    expect(refused.stderr).toContain(says);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
  });

  test("refuses the token of another lease, and a lease that has ended", async () => {
    const [lease, other] = [await lend("install"), await lend("account")];
    const theirs = await server.done(["signal", lease.id, "--ok", "--token", other.token]);
    expect(theirs.code).toBe(77);
    await client.release(lease);
    expect((await server.done(["signal", "--ok"], proof(lease))).code).toBe(76);
  });
});

describe("berth pin", () => {
  test.each([
    ["30", 30, 2],
    ["30/m", 30, 2],
    ["1800/h", 30, 2],
    ["1/2s", 30, 2],
    ["2.5", 2.5, 24],
  ])("holds the rate %s, and unpin lets it go", async (text, rate, everySeconds) => {
    const pinned = await server.done(["pin", "paced", "--rate", text, "--reason", "known good"]);
    expect(pinned).toMatchObject({ code: 0, stdout: "" });
    expect(pinned.stderr).toBe(
      `Pinned paced to ${rate} starts per minute; undo it with: berth unpin paced\n`,
    );
    expect((await client.pool("paced")).flow).toMatchObject({
      rate,
      everySeconds,
      pinned: { by: expect.stringMatching(/\S/), why: "known good" },
    });
    const unpinned = await server.done(["unpin", "paced", "--reason", "enough"]);
    expect(unpinned).toMatchObject({ code: 0, stderr: "Unpinned paced\n" });
    expect((await client.pool("paced")).flow).toMatchObject({ pinned: null });
    const { changes } = await client.limitHistory("paced");
    expect(changes.slice(-2)).toMatchObject([
      { cause: "pinned", rate, why: "known good" },
      { cause: "unpinned", why: "enough" },
    ]);
  });

  const wrong: Record<string, { args: string[]; code: number; says: string }> = {
    "no pool": { args: ["pin"], code: 64, says: "<pool> is missing" },
    "no rate": {
      args: ["pin", "paced"],
      code: 64,
      says: "Cannot pin paced: no rate is given\n  Add it, such as --rate 2.5",
    },
    "words for a rate": {
      args: ["pin", "paced", "--rate", "fast"],
      code: 64,
      says: 'Cannot use --rate "fast": it is not a rate from 0.001 to 60000 per minute',
    },
    "a rate of nothing": { args: ["pin", "paced", "--rate", "0"], code: 64, says: "--rate" },
    "a rate per no time": { args: ["pin", "paced", "--rate", "1/0s"], code: 64, says: "--rate" },
    "a rate too high": { args: ["pin", "paced", "--rate", "9999/s"], code: 64, says: "--rate" },
    "an empty reason": {
      args: ["pin", "paced", "--rate", "1", "--reason", ""],
      code: 64,
      says: "--reason",
    },
    "a pool that there is not": {
      args: ["pin", "pased", "--rate", "1"],
      code: 66,
      says: 'Cannot find pool "pased"\n  Did you mean "paced"?',
    },
    "to unpin no pool": { args: ["unpin"], code: 64, says: "<pool> is missing" },
    "to unpin a pool that there is not": { args: ["unpin", "pased"], code: 66, says: "paced" },
  };
  test.each(Object.entries(wrong))("refuses %s", async (_, { args, code, says }) => {
    const refused = await server.done(args);
    expect(refused.stderr).toContain(says);
    expect(refused).toMatchObject({ code, stdout: "" });
  });

  test("unpin changes nothing if the pool is not pinned", async () => {
    const before = await client.limitHistory("paced");
    expect((await server.done(["unpin", "paced"])).code).toBe(0);
    expect(await client.limitHistory("paced")).toEqual(before);
  });
});

test("berth explain names the pool whose gate is closed, if the server sends it", async () => {
  await lend("east");
  const ask = { items: [{ pool: "west" }], holder: "job/2", requestId: "west/1" };
  const asked = await client.ask(ask);
  if (asked.granted) throw new Error("Cannot explain: it does not wait");
  const { stdout } = await server.done(["explain", "west/1"]);
  await using older = await olderServer(server.url, ["nextBy"]);
  const untold = await server.done(["explain", "west/1"], { BERTH_URL: older.url });
  const { id, token = "" } = asked.request;
  await client.leave({ id, token });
  expect(stdout).toContain("paced by shared: one every 1h, the next in ");
  expect(stdout).toMatch(/^ {2}No grant for another \S+, because of shared\.$/m);
  expect(untold.stdout).toMatch(/^ {2}No grant for another \S+\.$/m);
});

test("berth pools tolerates fields that an older server does not send", async () => {
  await using older = await olderServer(server.url, ["admission", "nextGrantBy"]);
  const env = { BERTH_URL: older.url };
  const now = await server.done(["pools", "-o", "wide"]);
  expect(now.stdout).toContain("ADMISSION");
  expect(await server.done(["pools", "-o", "wide"], env)).toMatchObject({
    ...{ code: 0, stderr: "", stdout: now.stdout },
  });
});
