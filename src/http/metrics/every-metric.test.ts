/** The value of each metric that no other test reads, in a situation in which it is not 0. */
import { globSync, readFileSync } from "node:fs";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { acquire, pool, release } from "../../core/decide/lending.suite.ts";
import type { PoolName } from "../../core/model/ids.ts";
import { defaultAdaptive } from "../../core/model/policy.ts";
import { BoskosSite } from "../boskos/boskos-site.suite.ts";
import { askBody, asLease, type TestSite, testSite } from "../test-site.suite.ts";
import { makeMetrics } from "./metrics.ts";
import { mirrorMetrics } from "./mirror-metrics.ts";

/** From `name{label="value"}` to the value. */
function valuesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

async function scrape(site: TestSite): Promise<ReadonlyMap<string, number>> {
  return valuesIn((await site.call("GET /metrics")).text);
}

test("every metric is read by some test", () => {
  const root = new URL("../../../", import.meta.url);
  const read = (file: string) => readFileSync(new URL(file, root), "utf8");
  const names = globSync("src/http/**/*.ts", { cwd: root })
    .filter((file) => !/\.(?:test|suite)\.ts$/.test(file))
    .flatMap((file) => Array.from(read(file).matchAll(/"((?:berth|boskos)_\w+)"/g)))
    .map(([, name = ""]) => name);
  const tests = globSync(["src/**/*.test.ts", "test/*.test.ts"], { cwd: root }).map(read).join();
  expect(names.length).toBeGreaterThan(40);
  const isRead = (name: string) => new RegExp(`\\b${name}(?:_bucket|_count|_sum)?\\b`).test(tests);
  // `berth_` alone is the prefix of Node's own metrics.
  expect([...new Set(names)].filter((name) => name !== "berth_" && !isRead(name))).toEqual([]);
});

describe("of the server, /metrics has", () => {
  test("its version", async () => {
    await using site = await testSite([pool("aws", 1)]);
    expect((await scrape(site)).get('berth_build_info{version="0.0.0"}')).toBe(1);
  });

  test.each([
    [true, 1],
    [false, 0],
  ])(
    "whether the configuration could be loaded (%j), and since when it is in force",
    async (ok, want) => {
      await using site = await testSite([pool("aws", 1)]);
      const { auth, broker, insight } = site;
      const inForceSince = "2026-01-31T12:00:00.000Z";
      const configStatus = () => ({
        ...{ file: null, ok, inForceSince, checkedAt: inForceSince },
        ...{ pools: 1, resources: 1, problems: [], warnings: [] },
      });
      const registry = makeMetrics({ auth, broker, insight, configStatus, version: "0" });
      const values = valuesIn(await registry.metrics());
      expect(values.get("berth_config_reload_ok")).toBe(want);
      expect(values.get("berth_config_in_force_timestamp_seconds")).toBe(1_769_860_800);
    },
  );

  test("the commits and their sizes", async () => {
    await using site = await testSite([pool("aws", 2)]);
    const before = await scrape(site);
    const appends = site.journal.appends.length;
    await site.call("POST /v1/leases", { body: askBody("aws") });
    await site.call("POST /v1/leases", { body: askBody("aws") });
    const added = site.journal.appends.slice(appends);
    const after = await scrape(site);
    const rise = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(added).toHaveLength(2);
    expect(rise("berth_journal_commits_total")).toBe(2);
    expect(rise("berth_journal_batch_events_count")).toBe(2);
    expect(rise("berth_journal_batch_events_sum")).toBe(added.flat().length);
    expect(rise('berth_journal_batch_events_bucket{le="+Inf"}')).toBe(2);
  });

  test("how often Kubernetes failed", async () => {
    const registry = new Registry();
    const written = { created: 1, updated: 2, deleted: 3 };
    mirrorMetrics(() => ({ up: false, behind: 4, failures: 5, written }), registry);
    const values = valuesIn(await registry.metrics());
    expect(values.get("berth_mirror_failures_total")).toBe(5);
  });
});

describe("of a pool, /metrics has", () => {
  test("the reports of holders, and whether an operator fixed its rate", async () => {
    const policy = { pace: { everyMs: 24_000, burst: 1, jitter: 0 }, adaptive: defaultAdaptive };
    await using site = await testSite([pool("aws", 9, policy), pool("gcp", 1)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    await site.call(`POST /v1/leases/${id}/signal`, { token, body: { throttled: true } });
    const before = await scrape(site);
    expect(before.get('berth_limit_reports{pool="aws",report="throttled"}')).toBe(1);
    expect(before.get('berth_limit_reports{pool="aws",report="ok"}')).toBe(0);
    expect(before.get('berth_limit_pinned{pool="aws"}')).toBe(0);
    expect(before.has('berth_limit_pinned{pool="gcp"}')).toBe(false);
    await site.call("PUT /v1/pools/aws/pin", {
      body: { rate: 3, by: "ann", reason: "known good" },
    });
    expect((await scrape(site)).get('berth_limit_pinned{pool="aws"}')).toBe(1);
  });

  test("whether it is suspended", async () => {
    await using site = await testSite([pool("aws", 1), pool("gcp", 1)]);
    await site.broker.submit({ type: "set-aside", pools: ["aws" as PoolName], why: "a bug" });
    const values = await scrape(site);
    expect(values.get('berth_pool_suspended{pool="aws"}')).toBe(1);
    expect(values.get('berth_pool_suspended{pool="gcp"}')).toBe(0);
  });
});

test("of estimates, /metrics has their number, their cost, and how good they were", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const hold = async (id: string, holdMs: number) => {
    await site.broker.submit(acquire(id, "aws"));
    await site.clock.advance(holdMs);
    await site.broker.submit(release(id));
  };
  // Two thirds of the holds are short, so that P50 and P90 differ.
  for (let number = 0; number < 24; number++) {
    await hold(`h${number}`, number % 3 === 0 ? 200_000 : 100_000);
  }
  await site.call("GET /v1/history");
  await site.broker.submit(acquire("holder", "aws"));
  await site.broker.submit(acquire("waiter", "aws"));
  await site.insight.estimates.refresh();
  const before = await scrape(site);
  expect(before.get("berth_eta_estimated")).toBe(1);
  expect(before.get("berth_eta_pass_seconds")).toBeGreaterThan(0);
  expect(before.has('berth_eta_compared_total{pool="aws"}')).toBe(false);
  await site.clock.advance(150_000);
  await site.broker.submit(release("holder"));
  const after = await scrape(site);
  expect(after.get("berth_eta_estimated")).toBe(0);
  expect(after.get('berth_eta_compared_total{pool="aws"}')).toBe(1);
  expect(after.get('berth_eta_within_p50_total{pool="aws"}')).toBe(0);
  expect(after.get('berth_eta_within_p90_total{pool="aws"}')).toBe(1);
  expect(after.get('berth_eta_error_seconds_total{pool="aws"}')).toBe(50);
});

describe("for Boskos's dashboards, /metrics has", () => {
  test("the resources by type and state; states that Boskos does not know are one", async () => {
    const seed = ["a:t/free/", "b:t/free/", "c:t/busy/o", "d:t/odd/", "e:t/strange/", "f:u/dirty/"];
    await using site = await BoskosSite.start({ seed });
    const values = valuesIn((await site.call("GET /metrics")).text);
    const of = (type: string, state: string) =>
      values.get(`boskos_resources{type="${type}",state="${state}"}`);
    expect(["free", "busy", "leased", "other"].map((state) => of("t", state))).toEqual([
      2, 1, 0, 2,
    ]);
    expect([of("u", "dirty"), of("u", "free")]).toEqual([1, 0]);
  });

  test("how long acquires took, from the first poll on", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/"] });
    const poll = (owner: string, id: string) =>
      site.call(`POST /acquire?type=t&state=free&dest=busy&owner=${owner}&request_id=${id}`);
    await site.call("POST /acquire?type=t&state=free&dest=busy&owner=o");
    expect((await poll("p", "1")).status).toBe(404);
    await site.clock.advance(20_000);
    await site.call("POST /release?name=a&dest=free&owner=o");
    expect((await poll("p", "1")).status).toBe(200);
    const values = valuesIn((await site.call("GET /metrics")).text);
    const labels = (hasId: boolean) =>
      `type="t",state="free",dest="busy",has_request_id="${hasId}"`;
    const name = "boskos_acquire_duration_seconds";
    expect(values.get(`${name}_sum{${labels(false)}}`)).toBe(0);
    expect(values.get(`${name}_count{${labels(false)}}`)).toBe(1);
    expect(values.get(`${name}_sum{${labels(true)}}`)).toBe(20);
    expect(values.get(`${name}_bucket{le="10",${labels(true)}}`)).toBe(0);
    expect(values.get(`${name}_bucket{le="100",${labels(true)}}`)).toBe(1);
  });

  test("how many calls there were by path, status and client, how long and how large", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/"] });
    const headers = { "user-agent": "go-client/1" };
    const call = "POST /acquire?type=t&state=free&dest=busy&owner=o";
    const { text } = await site.call(call, { headers });
    const failed = await site.call(call, { headers });
    const values = valuesIn((await site.call("GET /metrics")).text);
    const labels = (status: number) =>
      `path="/acquire",method="POST",status="${status}",user_agent="go-client/1"`;
    for (const [status, answer] of [[200, text] as const, [404, failed.text] as const]) {
      const size = values.get(`boskos_http_response_size_bytes_sum{${labels(status)}}`);
      expect(size).toBe(Buffer.byteLength(answer));
      const duration = "boskos_http_request_duration_seconds";
      expect(values.get(`${duration}_count{${labels(status)}}`)).toBe(1);
      expect(values.get(`${duration}_sum{${labels(status)}}`)).toBeGreaterThan(0);
    }
  });
});
