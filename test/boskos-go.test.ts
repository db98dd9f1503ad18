/**
 * Boskos's own programs for Go against a real server: the client library, boskosctl and the reaper, built
 * from their published source (`scripts/go-peers`).
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { finished, TestServer } from "./cli-processes.ts";
import { goPeer, noGoPeers, RealGoClient } from "./go-peers.ts";

let server: TestServer;

beforeAll(async () => {
  const pools = {
    account: { count: 2 },
    crowd: { count: 5 },
    slot: { count: 1 },
    taken: { count: 1 },
    reaped: { count: 1 },
    beating: { count: 1, silence: { busy: "2s" } },
  };
  server = await TestServer.start(pools);
});
afterAll(() => server[Symbol.asyncDispose]());

const free = { state: "free", dest: "busy" };

async function stateOf(name: string): Promise<unknown> {
  const answer = await fetch(`${server.url}/v1/resources/${name}`);
  return ((await answer.json()) as { state: unknown }).state;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 100));
}

describe.concurrent("Boskos's Go client", () => {
  test("acquires, updates, resets and releases, and reads the errors", async ({ skip }) => {
    if (noGoPeers) skip(noGoPeers);
    await using client = new RealGoClient(server.url, "job/1");
    const wanted = { type: "account", ...free };
    const first = await client.call("acquire", wanted);
    expect(first).toMatchObject({ result: { type: "account", state: "busy", owner: "job/1" } });
    const { name } = first.result as { name: string };
    const other = await client.acquired("acquireWait", { ...wanted, deadline: "10s" });
    expect(new Set([name, other]).size).toBe(2);
    expect(await client.call("acquire", wanted)).toMatchObject({ error: "resources not found" });
    const unknown = await client.call("acquire", { ...wanted, type: "nothing" });
    expect(unknown).toMatchObject({ error: "resource type not found" });

    const userData = { key: "value" };
    expect((await client.call("update", { name, state: "busy", userData })).error).toBeUndefined();
    expect((await client.call("syncAll")).error).toBeUndefined();
    expect(await client.call("metric", { type: "account" })).toMatchObject({
      result: { type: "account", current: { busy: 2 }, owner: { "job/1": 2 } },
    });
    expect((await client.call("release", { name, dest: "dirty" })).error).toBeUndefined();
    const byState = { state: "dirty", dest: "cleaning", names: [name] };
    expect(await client.call("acquireByState", byState)).toMatchObject({
      result: [{ name, state: "cleaning", userdata: userData }],
    });
    const reset = { type: "account", state: "cleaning", expire: "0s", dest: "free" };
    expect(await client.call("reset", reset)).toMatchObject({ result: { [name]: "job/1" } });
    expect((await client.call("release", { name: other, dest: "free" })).error).toBeUndefined();
  });

  test("a client with a short deadline is answered early if the server is told so", async ({
    skip,
  }) => {
    if (noGoPeers) skip(noGoPeers);
    await using hasty = await TestServer.start({ slot: { count: 1 } }, "--boskos-wait", "500ms");
    const wanted = { type: "slot", ...free, deadline: "500ms" };
    await using held = new RealGoClient(server.url, "holds");
    await using heldHere = new RealGoClient(hasty.url, "holds");
    await held.acquired("acquire", wanted);
    await heldHere.acquired("acquire", wanted);
    await using slow = new RealGoClient(server.url, "waits");
    await using fast = new RealGoClient(hasty.url, "waits");
    const ends: string[] = [];
    const [onSlow, onFast] = await Promise.all([
      slow.call("acquireWait", wanted).finally(() => ends.push("default")),
      fast.call("acquireWait", wanted).finally(() => ends.push("500ms")),
    ]);
    expect(ends).toEqual(["500ms", "default"]);
    expect(onSlow).toMatchObject({ error: "resources not found" });
    expect(onFast).toMatchObject({ error: "resources not found" });
  });

  test("two dozen at once never hold the same resource, and all get their turn", async ({
    skip,
  }) => {
    if (noGoPeers) skip(noGoPeers);
    const heldBy = new Map<string, string>();
    let grants = 0;
    const run = async (owner: string) => {
      await using client = new RealGoClient(server.url, owner);
      for (let round = 0; round < 4; round++) {
        const wanted = { type: "crowd", ...free, deadline: "50s" };
        const name = await client.acquired("acquireWait", wanted);
        expect(heldBy.get(name)).toBeUndefined();
        heldBy.set(name, owner);
        grants += 1;
        const update = { name, state: "busy", userData: { owner } };
        expect((await client.call("update", update)).error).toBeUndefined();
        heldBy.delete(name);
        expect((await client.call("release", { name, dest: "free" })).error).toBeUndefined();
      }
    };
    await Promise.all(Array.from({ length: 24 }, (_, index) => run(`crowd-${index}`)));
    expect(grants).toBe(96);
  });
});

describe.concurrent("boskosctl", () => {
  const boskosctl = (...args: string[]) =>
    goPeer("boskosctl", ["--server-url", server.url, "--owner-name", "ctl", ...args]);

  test("waits, prints metrics and releases", async ({ skip }) => {
    if (noGoPeers) skip(noGoPeers);
    await using holder = new RealGoClient(server.url, "other");
    const name = await holder.acquired("acquire", { type: "taken", ...free });
    const states = ["--type", "taken", "--state", "free", "--target-state", "busy"];
    const waiting = finished(boskosctl("acquire", ...states, "--timeout", "50s"));
    await until(async () => (await server.done(["queue"])).stdout.includes("ctl"));
    await holder.call("release", { name, dest: "free" });
    const acquired = await waiting;
    expect(acquired.code).toBe(0);
    expect(JSON.parse(acquired.stdout)).toMatchObject({ name, owner: "ctl", state: "busy" });
    const metrics = await finished(boskosctl("metrics", "--type", "taken"));
    expect(JSON.parse(metrics.stdout)).toMatchObject({ current: { busy: 1 }, owner: { ctl: 1 } });
    const release = ["release", "--name", name, "--target-state", "free"];
    expect((await finished(boskosctl(...release))).stdout).toContain(`released resource "${name}"`);
    // The same release again may be a retry.
    expect((await finished(boskosctl(...release))).code).toBe(0);
  });

  test("its heartbeats keep a resource that is lost without them", async ({ skip }) => {
    if (noGoPeers) skip(noGoPeers);
    const states = ["--type", "beating", "--state", "free", "--target-state", "busy"];
    const { stdout } = await finished(boskosctl("acquire", ...states));
    const beating = boskosctl("heartbeat", "--resource", stdout.trim(), "--period", "200ms");
    // More than twice the time after which the server takes a silent holder's resource.
    await beating.says(/(?:heartbeat sent for resource "beating-1"\n){25}/);
    expect(await stateOf("beating-1")).toBe("busy");
    beating.signal("SIGTERM");
    await beating.ended;
    await until(async () => (await stateOf("beating-1")) !== "busy");
  });
});

test.concurrent("the reaper takes resources from silent owners", { timeout: 150_000 }, async ({
  skip,
}) => {
  if (noGoPeers) skip(noGoPeers);
  await using client = new RealGoClient(server.url, "silent");
  await client.acquired("acquire", { type: "reaped", ...free });
  // It acts once a minute, and first after a minute.
  const flags = ["--boskos-url", server.url, "--resource-type", "reaped", "--expire", "1s"];
  const reaper = goPeer("reaper", flags);
  await until(async () => (await stateOf("reaped-1")) === "dirty");
  reaper.signal("SIGKILL");
  await reaper.ended;
});
