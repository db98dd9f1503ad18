import { expect, test } from "vitest";
import { poolAnswer } from "../api/pool-answer.suite.ts";
import type { Pool } from "../api/schemas.ts";
import { ask, poisonedAsk, pools } from "../broker/poisoned.suite.ts";
import { pool, release } from "../core/decide/lending.suite.ts";
import type { PoolName } from "../core/model/ids.ts";
import { askBody, asLease, testSite } from "./test-site.suite.ts";

const { policy, flow } = poolAnswer();

test("GET /v1/pools tells sizes, states, who waits, and the policy", async () => {
  await using site = await testSite([
    pool("aws", 2, { holdMs: 5_000, cooldownMs: 1_500 }),
    pool("gcp", 1, { lifetimeMs: 3_600_000, lockDelayMs: 15_000, onExpire: "dirty" }),
  ]);
  await site.call("POST /v1/leases", { body: askBody("gcp") });
  await site.call("POST /v1/leases", { body: askBody("gcp") });
  await site.clock.advance(12_500);
  const { body, status } = await site.call("GET /v1/pools");
  expect(status).toBe(200);
  expect(body).toEqual({
    next: null,
    items: [
      {
        name: "aws",
        total: 2,
        free: 2,
        states: { free: 2 },
        held: 0,
        waiting: 0,
        oldestWaitSeconds: null,
        meanHoldSeconds: null,
        usualWaitSeconds: null,
        retiring: false,
        suspended: null,
        policy: {
          ...policy,
          ttl: "5m",
          lifetime: null,
          hold: "5s",
          cooldown: "1.5s",
          lockDelay: "0s",
          patience: "10m",
          onRelease: "free",
          onExpire: "free",
          silence: {},
          dynamic: null,
          cleaning: null,
        },
        flow,
        admission: null,
      },
      expect.objectContaining({
        name: "gcp",
        states: { busy: 1 },
        free: 0,
        waiting: 1,
        oldestWaitSeconds: 12.5,
        policy: expect.objectContaining({ lifetime: "1h", lockDelay: "15s", onExpire: "dirty" }),
      }),
    ],
  });
});

test("GET /v1/pools/{name} tells of one, also of one that is to go", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
  await site.broker.submit({ type: "configure", pools: [] });
  expect((await site.call("GET /v1/pools/aws")).body).toMatchObject({ retiring: true, total: 1 });
  await site.clock.advance(10_000);
  await site.call(`DELETE /v1/leases/${id}`, { token });
  expect(await site.call("GET /v1/pools/aws")).toMatchObject({
    status: 404,
    body: { code: "pool_not_found", hint: "The configuration has no pool" },
  });
});

test("GET /v1/pools/{name} tells the mean of recent holds", async () => {
  await using site = await testSite([pool("aws", 1)]);
  for (const holdMs of [1_000, 3_000]) {
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    await site.clock.advance(holdMs);
    await site.call(`DELETE /v1/leases/${id}`, { token });
  }
  expect((await site.call("GET /v1/pools/aws")).body).toMatchObject({ meanHoldSeconds: 2 });
});

test("GET /v1/pools/{name} tells what was said of it outside", async () => {
  await using site = await testSite([pool("kind", 2, { admission: { by: "the check" } })]);
  const kind = "kind" as PoolName;
  const told = async () => {
    const { body } = await site.call("GET /v1/pools/kind");
    return (body as Pool).admission;
  };
  const nothing = { by: "the check", credits: 0, until: null, why: null };
  const noLook = { found: null, lookedAt: null, nextLookAt: null };
  expect(await told()).toEqual({ ...nothing, ...noLook });
  await site.broker.submit({ type: "withhold", pool: kind, why: "it is full" });
  expect(await told()).toEqual({ ...nothing, ...noLook, why: "it is full" });
  await site.broker.submit({ type: "admit", pool: kind, grants: 2, forMs: 10_000 });
  expect(await told()).toMatchObject({ credits: 2, until: "2023-11-14T22:13:30.000Z", why: null });
  await site.clock.advance(10_000);
  expect(await told()).toEqual({ ...nothing, ...noLook });
});

test("GET /v1/config tells what is in force", async () => {
  await using site = await testSite([pool("aws", 1)]);
  expect(await site.call("GET /v1/config")).toMatchObject({
    status: 200,
    body: { ok: true, pools: 1, problems: [] },
  });
});

test("GET /v1/pools/{name} and the metrics say that a pool is suspended, and why", async () => {
  await using site = await testSite(pools());
  const shown = async () => (await site.call("GET /v1/pools/vsphere")).body;
  expect(await shown()).toMatchObject({ suspended: null });
  await site.broker.submit(ask("all", 4));
  await site.broker.submit(poisonedAsk("bad1"));
  await site.broker.submit(poisonedAsk("bad2"));
  await site.broker.submit(release("all"));
  const why = expect.stringContaining("Cannot");
  expect(await shown()).toMatchObject({ suspended: { why, since: expect.any(String) } });
  const { text } = await site.call("GET /metrics");
  expect(text).toContain('berth_pool_suspended{pool="vsphere"} 1');
  expect(text).toContain('berth_pool_suspended{pool="aws"} 0');
});
