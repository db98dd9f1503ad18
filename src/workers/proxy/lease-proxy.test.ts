import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { expectRow, open, proxyPools, rows } from "../../api/lease-proxy.suite.ts";
import { until } from "../../broker/hand-clock.suite.ts";
import { BerthClient } from "../../client/berth-client.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { type TestSite, testSite } from "../../http/test-site.suite.ts";
import { JournalUnavailable } from "../../journal/journal.ts";
import { JobLeases, type JobLeasesOptions } from "./job-leases.ts";
import { LeaseProxy } from "./lease-proxy.ts";

interface Job extends AsyncDisposable {
  readonly site: TestSite;
  readonly leases: JobLeases;
  readonly url: string;
  readonly notes: string[];
  acquire(query: string, headers?: object): ReturnType<typeof open>["answer"];
  release(names: readonly string[], headers?: object): ReturnType<typeof open>["answer"];
  states(): Promise<Record<string, string>>;
}

/** A proxy for a job, with a real server on loopback. */
async function job(pools: PoolSpec[], more: Partial<JobLeasesOptions> = {}): Promise<Job> {
  const site = await testSite(pools);
  const client = new BerthClient({ url: await site.listen() });
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const leases = new JobLeases({ client, holder: "the job", note, connectMs: 0, ...more });
  const proxy = await LeaseProxy.start(leases);
  const { url } = proxy;
  return {
    ...{ site, leases, url, notes },
    acquire: (query, headers) => open(url, `POST /lease/acquire?${query}`, headers).answer,
    release: (names, headers) =>
      open(url, "POST /lease/release", headers, JSON.stringify({ names })).answer,
    states: () =>
      site.broker.read(({ resources }) =>
        Object.fromEntries([...resources.values()].map(({ name, state }) => [name, state])),
      ),
    async [Symbol.asyncDispose]() {
      await leases.close();
      await proxy.close();
      await site[Symbol.asyncDispose]();
    },
  };
}

test.each(Object.entries(rows))("LeaseProxy answers %s", async (_, row) => {
  await using proxied = await job(proxyPools());
  const { call, body, headers = {} } = row;
  const sent = { "content-type": "text/x-whatever", ...headers };
  expectRow(row, await open(proxied.url, call, sent, body).answer);
});

describe("LeaseProxy", () => {
  test.each([
    ["no secret", (url: URL) => `${url.origin}`],
    ["a wrong secret", (url: URL) => `${url.origin}/${"A".repeat(32)}`],
    ["half of the secret", (url: URL) => url.href.slice(0, -16)],
    ["more than the secret", (url: URL) => `${url.href}A`],
    ["the secret in the query", (url: URL) => `${url.origin}/?${url.pathname}`],
  ])("refuses a call with %s in its address", async (_, addressOf) => {
    await using proxied = await job([pool("t", 1)]);
    const address = addressOf(new URL(proxied.url));
    for (const path of ["/lease/acquire?type=t", "/lease/release", "/", ""]) {
      const { status, text } = await open(address, `POST ${path}`).answer;
      expect({ status, text }).toEqual({
        status: 403,
        text: "the address lacks the secret of this job: use LEASE_PROXY_SERVER_URL as it is\n",
      });
    }
    expect(await proxied.states()).toEqual({ "t-1": "free" });
  });

  test("has another secret for every job", async () => {
    await using one = await job([]);
    await using two = await job([]);
    const secrets = [one, two].map(({ url }) => new URL(url).pathname);
    expect(secrets[0]).toMatch(/^\/[\w-]{32}$/);
    expect(secrets[0]).not.toBe(secrets[1]);
  });

  test("acquires leases for the job, lists them sorted and releases them by name", async () => {
    const pools = [pool("a", ["a_0"]), pool("b", ["b_1"]), pool("c", ["c_2"])];
    await using proxied = await job(pools);
    for (const type of ["c", "a", "b"]) await proxied.acquire(`type=${type}`);
    expect(proxied.leases.names).toEqual(["a_0", "b_1", "c_2"]);
    const holders = await proxied.site.broker.read(({ leases }) =>
      [...leases.values()].map(({ ask }) => ask.holder),
    );
    expect(new Set(holders)).toEqual(new Set(["the job"]));
    expect((await proxied.release(["a_0", "c_2"])).status).toBe(204);
    expect(proxied.leases.names).toEqual(["b_1"]);
    await proxied.leases.close();
    expect(proxied.leases.names).toEqual([]);
    expect(await proxied.states()).toEqual({ a_0: "free", b_1: "free", c_2: "free" });
  });

  test("releases part of a lease and keeps the rest", async () => {
    await using proxied = await job([pool("t", ["foo", "bar"])]);
    await proxied.acquire("type=t&count=2");
    await proxied.release(["bar"]);
    expect(await proxied.states()).toEqual({ foo: "busy", bar: "free" });
    await proxied.release(["foo"]);
    expect(await proxied.site.broker.read(({ leases }) => leases.size)).toBe(0);
  });

  test("releases only resources of the job", async () => {
    await using proxied = await job([pool("t", ["foo"])]);
    const body = { items: [{ pool: "t" }], holder: "the job" };
    await proxied.site.call("POST /v1/leases", { body });
    const answer = await proxied.release(["foo"]);
    expect(decodeURI(String(answer.headers["berth-note"]))).toBe("not held, or no longer: foo");
    expect(await proxied.states()).toEqual({ foo: "busy" });
  });

  test("leaves the queue when its client disconnects", async () => {
    await using proxied = await job([pool("t", 1)]);
    await proxied.acquire("type=t");
    const asked = open(proxied.url, "POST /lease/acquire?type=t");
    await until(() => proxied.site.broker.openWaits === 1);
    asked.call.destroy();
    await until(() => proxied.site.journal.appends.flat().at(-1)?.type === "request-left");
    expect(proxied.leases.names).toEqual(["t-1"]);
  });

  test("releases a lease whose client could not be answered", async () => {
    await using proxied = await job([pool("t", 1)]);
    const kept = await proxied.leases.acquire({ type: "t", count: 1, timeoutMs: undefined });
    await proxied.leases.undo(kept);
    expect(proxied.notes.at(-1)).toBe("Releasing [t-1]: the client has disconnected");
    expect(await proxied.states()).toEqual({ "t-1": "free" });
    expect(proxied.leases.names).toEqual([]);
  });

  test("reports that nothing was free in time", async () => {
    await using proxied = await job([pool("t", 1)], { timeoutMs: 50 });
    await proxied.acquire("type=t");
    let answered = false;
    const asked = proxied.acquire("type=t").finally(() => {
      answered = true;
    });
    while (!answered) await proxied.site.clock.advance(50);
    expect(await asked).toMatchObject({
      status: 500,
      text: 'Failed to acquire lease "t": resources not found\n',
    });
    expect(await proxied.acquire("type=t&timeout=0s")).toMatchObject({ status: 409 });
  });

  test("returns the same names for the same key while they are held", async () => {
    await using proxied = await job([pool("t", ["foo", "bar"])]);
    const headers = { "idempotency-key": "k" };
    const first = await proxied.acquire("type=t", headers);
    expect((await proxied.acquire("type=t", headers)).text).toBe(first.text);
    expect(proxied.leases.names).toHaveLength(1);
    await proxied.release(proxied.leases.names);
    await proxied.acquire("type=t", headers);
    expect(proxied.leases.names).toHaveLength(1);
  });

  test("reports that the server is unreachable, and acquires again when it is back", async () => {
    await using proxied = await job([pool("t", 1)]);
    const { app } = proxied.site;
    const at = app.server.address() as { port: number };
    app.server.closeAllConnections();
    app.server.close();
    await once(app.server, "close");
    const away = await proxied.acquire("type=t");
    expect(away.status).toBe(503);
    expect(away.text).toMatch(/^Failed to acquire lease "t": Cannot reach the server at /);
    app.server.listen(at.port, "127.0.0.1");
    await once(app.server, "listening");
    expect((await proxied.acquire("type=t")).status).toBe(200);
  });

  test("keeps a lease whose release failed, so that it can be tried again", async () => {
    await using proxied = await job([pool("t", 2)], { releaseMs: 0 });
    await proxied.acquire("type=t&count=2");
    const { journal } = proxied.site;
    journal.appendFails = new JournalUnavailable("full");
    const failed = await proxied.release(["t-1"]);
    expect(failed.status).toBe(500);
    expect(failed.text).toMatch(/^Failed to release lease t-1: .*\nReleased: \n$/);
    expect(proxied.leases.names).toEqual(["t-1", "t-2"]);
    journal.appendFails = undefined;
    await proxied.site.clock.advance(60_000);
    expect((await proxied.release(["t-1", "t-2"])).status).toBe(204);
    expect(proxied.leases.names).toEqual([]);
  });

  test("forgets a lease that the server ended at its maximum hold time", async () => {
    await using proxied = await job([pool("t", 1, { holdMs: 200 })]);
    await proxied.acquire("type=t");
    await proxied.site.clock.advance(200);
    const note = "The server has released [t-1]: its maximum hold time is over";
    await until(() => proxied.notes.includes(note));
    expect(proxied.leases.names).toEqual([]);
    await until(() => proxied.site.journal.appends.flat().at(-1)?.type === "lease-ended");
  });

  test("logs that a lease is lost", async () => {
    await using proxied = await job([pool("t", 1)], {
      asking: { ttl: "1s" },
    });
    await proxied.acquire("type=t");
    const [id = ""] = await proxied.site.broker.read(({ leases }) => [...leases.keys()]);
    await proxied.site.call(`DELETE /v1/leases/${id}?force=true&reason=test`);
    await until(() => proxied.notes.some((line) => /LEASE LOST: \[t-1\]/.test(line)));
    expect(proxied.leases.names).toEqual([]);
  });

  test("when the job ends, cancels waiting requests and rejects new ones", async () => {
    await using proxied = await job([pool("t", 1)]);
    await proxied.acquire("type=t");
    const asked = open(proxied.url, "POST /lease/acquire?type=t");
    await until(() => proxied.site.broker.openWaits === 1);
    await proxied.leases.close();
    expect(await asked.answer).toMatchObject({ status: 500, text: "Failed to get lease client\n" });
    expect(
      await proxied.site.broker.read(({ requests, leases }) => requests.size + leases.size),
    ).toBe(0);
    expect(await proxied.acquire("type=t")).toMatchObject({ status: 500 });
    expect(await proxied.acquire("count=1")).toMatchObject({ status: 400 });
    expect(await proxied.acquire("type=t&count=0")).toMatchObject({ text: '{"names":[]}' });
  });

  test("when the job ends, releases the other leases although one release fails", async () => {
    await using site = await testSite([pool("t", 1), pool("u", 1)]);
    const notes: string[] = [];
    let stuck = "";
    const client = new BerthClient({
      url: await site.listen(),
      fetch: (address, init) => {
        const isStuck = init?.method === "DELETE" && String(address).endsWith(stuck);
        return isStuck ? Promise.reject(new TypeError("cut")) : fetch(address, init);
      },
    });
    const note = (text: string) => void notes.push(text);
    const leases = new JobLeases({ client, holder: "the job", note, releaseMs: 0 });
    stuck = (await leases.acquire({ type: "t", count: 1, timeoutMs: undefined })).lease.id;
    await leases.acquire({ type: "u", count: 1, timeoutMs: undefined });
    await leases.close();
    const left = await site.broker.read((state) => [...state.leases.keys()]);
    expect(left).toEqual([stuck]);
    expect(notes.join("\n")).toMatch(
      /Cannot release \[t-1\]: .*\n {2}It expires by itself in \w+, or a whole ttl after/,
    );
    expect(leases.names).toEqual([]);
  });
});
