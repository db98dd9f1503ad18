import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectRow, open, proxyPools, rows, type Told } from "../../api/lease-proxy.suite.ts";
import { until } from "../../broker/hand-clock.suite.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import { JournalUnavailable } from "../../journal/journal.ts";
import { askBody, type TestSite, testSite } from "../test-site.suite.ts";

test.each(Object.entries(rows))("the lease proxy answers %s", async (_, row) => {
  await using site = await testSite(proxyPools());
  const { call, body, headers = {} } = row;
  const answer = await send(site, call, { "content-type": "text/x-whatever", ...headers }, body);
  expectRow(row, answer);
});

const urls = new WeakMap<TestSite, Promise<string>>();
async function send(site: TestSite, line: string, headers = {}, body?: string): Promise<Told> {
  const listening = urls.get(site) ?? site.listen();
  urls.set(site, listening);
  return open(await listening, line, headers, body).answer;
}

const acquire = (site: TestSite, query: string, headers = {}) =>
  send(site, `POST /lease/acquire?${query}`, headers);
const release = (site: TestSite, names: string[], headers = {}) =>
  send(site, "POST /lease/release", headers, JSON.stringify({ names }));
const states = (site: TestSite) =>
  site.broker.read(({ resources }) =>
    Object.fromEntries([...resources.values()].map(({ name, state }) => [name, state])),
  );

describe("a release", () => {
  test("gives back what is named and nothing else, and again is fine", async () => {
    await using site = await testSite(proxyPools());
    await acquire(site, "type=t&count=2");
    expect(await states(site)).toMatchObject({ foo: "leased", bar: "leased" });
    expect((await release(site, ["foo"])).status).toBe(204);
    expect(await states(site)).toMatchObject({ foo: "free", bar: "leased" });
    const again = await release(site, ["foo", "bar"]);
    expect(again.status).toBe(204);
    expect(decodeURI(String(again.headers["berth-note"]))).toBe("not held, or no longer: foo");
    expect(await states(site)).toMatchObject({ foo: "free", bar: "free" });
  });

  test("goes where the pool says", async () => {
    await using site = await testSite([pool("t", ["foo"], { onRelease: "dirty" })]);
    await acquire(site, "type=t");
    await release(site, ["foo"]);
    expect(await states(site)).toEqual({ foo: "dirty" });
  });

  test("tells what was given back before one failed", async () => {
    await using site = await testSite(proxyPools());
    await acquire(site, "type=t&count=2");
    site.broker.listen({
      committed: () => {
        site.journal.appendFails = new JournalUnavailable("injected");
      },
    });
    const half = await release(site, ["foo", "bar"]);
    expect(half.status).toBe(500);
    expect(half.text).toEqual(
      expect.stringMatching(/^Failed to release lease bar: .*\nReleased: foo\n$/),
    );
    const refused = await acquire(site, "type=aws-1");
    expect(refused.status).toBe(503);
    expect(refused.text).toMatch(/^Failed to acquire lease "aws-1": Cannot write the journal/);
  });

  test("does not touch what another holds, nor what is held with a token", async () => {
    await using site = await testSite(proxyPools());
    await acquire(site, "type=aws-1", { "berth-holder": "job-1" });
    await site.call("POST /v1/leases", { body: askBody("t:2", { holder: "job-2" }) });
    for (const holder of ["job-2", "lease-proxy@127.0.0.1"]) {
      await release(site, ["aws-1_0", "foo", "bar"], { "berth-holder": holder });
    }
    expect(await states(site)).toMatchObject({ "aws-1_0": "leased", foo: "busy", bar: "busy" });
  });
});

describe("the holder", () => {
  const basic = `Basic ${Buffer.from("ci-op:secret").toString("base64")}`;
  test.each([
    ["the header", { "berth-holder": " job-1 ", authorization: basic }, "job-1"],
    ["the credentials", { authorization: basic }, "ci-op"],
    ["the address otherwise", {}, "lease-proxy@127.0.0.1"],
  ])("is taken from %s", async (_, headers, holder) => {
    await using site = await testSite(proxyPools());
    await acquire(site, "type=aws-1", headers);
    const held = await site.broker.read(({ leases }) =>
      [...leases.values()].map(({ ask }) => ask.holder),
    );
    expect(held).toEqual([holder]);
  });
});

const waiting = (site: TestSite) => site.broker.read(({ requests }) => requests.size);

describe("an acquire that has to wait", () => {
  let site: TestSite;
  let url: string;
  beforeAll(async () => {
    site = await testSite(proxyPools());
    const listening = site.listen();
    urls.set(site, listening);
    url = await listening;
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("holds nothing until it gets all of it, and is then answered at once", async () => {
    await acquire(site, "type=t");
    const both = open(url, "POST /lease/acquire?type=t&count=2");
    await until(() => site.broker.openWaits === 1);
    expect(await states(site)).toMatchObject({ foo: "leased", bar: "free" });
    await release(site, ["foo"]);
    expect(await both.answer).toMatchObject({ status: 200, text: '{"names":["bar","foo"]}' });
    await release(site, ["foo", "bar"]);
  });

  test("ends with the words that clients know when its time is over", async () => {
    await acquire(site, "type=aws-1");
    const asked = open(url, "POST /lease/acquire?type=aws-1");
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(2 * 3_600_000);
    expect(await asked.answer).toMatchObject({
      status: 500,
      text: 'Failed to acquire lease "aws-1": resources not found\n',
    });
    expect(await waiting(site)).toBe(0);
    const now = await acquire(site, "type=aws-1&timeout=0s");
    expect([now.status, now.text]).toEqual([
      409,
      'Failed to acquire lease "aws-1": resources not found\n',
    ]);
    await release(site, ["aws-1_0"]);
  });

  test("leaves the queue when its client hangs up", async () => {
    await acquire(site, "type=aws-1");
    const asked = open(url, "POST /lease/acquire?type=aws-1");
    await until(() => site.broker.openWaits === 1);
    asked.call.destroy();
    await until(() => site.journal.appends.flat().at(-1)?.type === "request-left");
    expect(await waiting(site)).toBe(0);
    await release(site, ["aws-1_0"]);
    expect(await states(site)).toMatchObject({ "aws-1_0": "free" });
  });

  test("finds its place again with an idempotency key, and what it was lent meanwhile", async () => {
    await acquire(site, "type=aws-1");
    const asked = open(url, "POST /lease/acquire?type=aws-1", { "idempotency-key": "k" });
    await until(() => site.broker.openWaits === 1);
    asked.call.destroy();
    await until(() => site.broker.openWaits === 0);
    await release(site, ["aws-1_0"]);
    const again = await acquire(site, "type=aws-1", { "idempotency-key": "k" });
    expect(again.text).toBe('{"names":["aws-1_0"]}');
    const lost = await acquire(site, "type=aws-1", { "idempotency-key": "k" });
    expect(lost.headers["berth-lease"]).toBe(again.headers["berth-lease"]);
    await release(site, ["aws-1_0"]);
  });
});

test("a lease of which nobody speaks again ends by itself", async () => {
  await using site = await testSite(proxyPools());
  await acquire(site, "type=aws-1");
  await site.clock.advance(4 * 3_600_000);
  expect(await states(site)).toMatchObject({ "aws-1_0": "free" });
});
