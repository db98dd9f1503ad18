import { describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { defaultAdaptive, type PoolPolicy } from "../core/model/policy.ts";
import {
  type Answer,
  askBody,
  asLease,
  asProblem,
  asRequest,
  type TestSite,
  testSite,
} from "./test-site.suite.ts";

const spaced: Partial<PoolPolicy> = {
  pace: { everyMs: 24_000, burst: 1, jitter: 0 },
  adaptive: { ...defaultAdaptive, min: 0.5, max: 6 },
};

async function ask(site: TestSite, wanted = "aws", more: object = {}): Promise<Answer> {
  return site.call("POST /v1/leases", { body: askBody(wanted, more) });
}

describe("POST /v1/leases/{id}/signal", () => {
  test("lowers the rate of what the lease has, which the pool and its history show", async () => {
    await using site = await testSite([pool("aws", 9, spaced)]);
    const { id, token } = asLease(await ask(site));
    const body = { throttled: true, evidence: "Rate exceeded" };
    expect(await site.call(`POST /v1/leases/${id}/signal`, { token, body })).toMatchObject({
      status: 204,
    });
    expect((await site.call("GET /v1/pools/aws")).body).toMatchObject({
      policy: { pace: { every: "24s", burst: 1, jitter: 0 }, adaptive: { mode: "auto" } },
      flow: {
        everySeconds: 34.286,
        rate: 1.75,
        nextGrantAt: "2023-11-14T22:13:44.000Z",
        nextGrantBy: "aws",
        pinned: null,
        reports: { throttled: 1, ok: 0 },
      },
    });
    expect((await site.call("GET /v1/pools/aws/limit-history")).body).toMatchObject({
      pool: "aws",
      changes: [
        { rate: 2.5, was: null, cause: "configured" },
        { rate: 1.75, was: 2.5, cause: "throttled", lease: id, why: "Rate exceeded" },
      ],
    });
  });

  test("is for the holder, and of pools that it has something of", async () => {
    await using site = await testSite([pool("aws", 1, spaced), pool("gcp", 1)]);
    const { id, token } = asLease(await ask(site));
    const body = { throttled: true };
    const line = `POST /v1/leases/${id}/signal`;
    expect(await site.call(line, { body })).toMatchObject({ status: 401 });
    expect(await site.call(line, { body, token: "x".repeat(43) })).toMatchObject({ status: 403 });
    expect(await site.call(line, { token, body: {} })).toMatchObject({ status: 400 });
    const other = await site.call(line, { token, body: { ...body, pool: "gcp" } });
    expect(asProblem(other)).toMatchObject({ status: 404, code: "pool_not_in_lease" });
  });

  test("can come with the release", async () => {
    await using site = await testSite([pool("aws", 1, spaced)]);
    const { id, token } = asLease(await ask(site));
    const body = { throttled: true, evidence: "429" };
    await site.call(`DELETE /v1/leases/${id}`, { token, body });
    expect((await site.call("GET /v1/pools/aws")).body).toMatchObject({ flow: { rate: 1.75 } });
  });
});

describe("POST /v1/leases/{id}/refresh", () => {
  test("answers 202 with a place behind those who wait, and a token for it", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await ask(site));
    const next = asRequest(await ask(site));
    const answer = await site.call(`POST /v1/leases/${id}/refresh`, {
      token,
      body: { requestId: "again" },
    });
    expect(answer).toMatchObject({ status: 202, body: { requestId: "again", position: 1 } });
    expect(asRequest(answer).id).not.toBe(id);
    expect(await site.call(`GET /v1/leases/${next.id}`)).toMatchObject({ status: 200 });
    await site.call(`DELETE /v1/leases/${next.id}`, { token: next.token });
    const granted = await site.call(`GET /v1/requests/${asRequest(answer).id}`, {
      token: asRequest(answer).token,
    });
    expect(granted).toMatchObject({ status: 200, body: { claims: [{ resource: "aws-1" }] } });
  });

  test("sent twice gets one lease", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await ask(site));
    const call = { token, body: { requestId: "again" } };
    const first = asLease(await site.call(`POST /v1/leases/${id}/refresh`, call));
    const second = asLease(await site.call(`POST /v1/leases/${id}/refresh`, call));
    // To ask again is a heartbeat too.
    const { lastHeartbeatAt } = second;
    expect(lastHeartbeatAt).not.toBeNull();
    expect(second).toEqual({ ...first, lastHeartbeatAt });
  });
});

describe("PUT and DELETE /v1/pools/{name}/pin", () => {
  test("hold a rate and let it go again, with who and why", async () => {
    await using site = await testSite([pool("aws", 9, spaced)]);
    const body = { rate: 3, by: "ann", reason: "known good" };
    expect(await site.call("PUT /v1/pools/aws/pin", { body })).toMatchObject({
      status: 200,
      body: { flow: { everySeconds: 20, rate: 3, pinned: { by: "ann", why: "known good" } } },
    });
    expect(await site.call("DELETE /v1/pools/aws/pin?by=bob")).toMatchObject({
      status: 200,
      body: { flow: { rate: 3, pinned: null } },
    });
    const { changes } = (await site.call("GET /v1/pools/aws/limit-history")).body as {
      changes: { cause: string; by: string | null }[];
    };
    expect(changes.slice(1).map(({ cause, by }) => [cause, by])).toEqual([
      ["pinned", "ann"],
      ["unpinned", "bob"],
    ]);
  });

  test.each(["PUT", "DELETE"])(
    "%s is for operators, and for pools that there are",
    async (method) => {
      await using site = await testSite([pool("aws", 1)]);
      const call = method === "PUT" ? { body: { rate: 1 } } : {};
      const away = await site.call(`${method} /v1/pools/aws/pin`, { ...call, from: "10.0.0.9" });
      expect(away.status).toBe(403);
      expect((await site.call(`${method} /v1/pools/nope/pin`, call)).status).toBe(404);
    },
  );
});

describe("an item with anyOf", () => {
  const pools = [pool("east", 1), pool("west", 1)];
  const any = { items: [{ anyOf: ["east", "west"] }] };

  test("is served by the first that can, and shown while it waits", async () => {
    await using site = await testSite(pools);
    const claimed = await Promise.all([1, 2].map(() => ask(site, "x", any)));
    expect(claimed.map((answer) => asLease(answer).claims[0]?.pool)).toEqual(["east", "west"]);
    expect(await ask(site, "x", any)).toMatchObject({
      status: 202,
      body: { items: [{ pool: "east", anyOf: ["east", "west"], count: 1 }] },
    });
  });

  test.each([
    ["both", [{ pool: "east", anyOf: ["west"] }]],
    ["neither", [{ count: 1 }]],
    ["too many ways", Array(7).fill({ anyOf: ["east", "west"] })],
  ])("is refused with %s", async (_, items) => {
    await using site = await testSite(pools);
    expect(asProblem(await ask(site, "x", { items }))).toMatchObject({
      status: 400,
      code: "invalid_request",
    });
  });
});

test("a pace that pools share is told by those who wait for it, by the pools, and by metrics", async () => {
  await using site = await testSite([
    pool("account", [], { limit: 9, ...spaced }),
    pool("aws", 2, { parent: "account" as never }),
    pool("set", 2, { parent: "account" as never }),
    pool("other", 1),
  ]);
  const { id, token } = asLease(await ask(site, "set"));
  const { id: waiting, reason } = asRequest(await ask(site));
  expect(reason).toEqual({
    ...{ code: "paced", pool: "aws" },
    message: "2 of 2 aws free, paced by account: one every 24s, the next in 24s; next in line",
  });
  const nextAt = "2023-11-14T22:13:44.000Z";
  expect((await site.call(`GET /v1/explain/${waiting}`)).body).toMatchObject({
    needs: [{ pool: "aws", nextAt, nextBy: "account", limits: [{ pool: "account", used: 1 }] }],
  });
  const flow = { nextGrantAt: nextAt, nextGrantBy: "account" };
  const aws = await site.call("GET /v1/pools/aws");
  expect(aws.body).toMatchObject({ flow: { everySeconds: null, ...flow } });
  const account = await site.call("GET /v1/pools/account");
  expect(account.body).toMatchObject({ flow: { everySeconds: 24, ...flow } });
  await site.call(`POST /v1/leases/${id}/signal`, { token, body: { throttled: true } });
  const { text } = await site.call("GET /metrics");
  expect(text).toContain('berth_pace_next_grant_seconds{pool="account"} 24');
  expect(text).toContain('berth_limit_rate{pool="account"} 1.75');
  expect(text).toContain('berth_pace_next_grant_seconds{pool="aws"} 24');
  expect(text).not.toContain('berth_pace_interval_seconds{pool="aws"}');
  expect(text).not.toContain('berth_pace_next_grant_seconds{pool="other"}');
  await site.clock.advance(24_000);
  expect((await site.call(`GET /v1/leases/${waiting}`)).status).toBe(200);
});

test("what waits for its time, or for a shared limit, says so; metrics show both", async () => {
  await using site = await testSite([
    pool("account", [], { limit: 1 }),
    pool("aws", 2, { ...spaced }),
    pool("set", 2, { parent: "account" as never }),
  ]);
  await ask(site);
  await ask(site, "set");
  const paced = asRequest(await ask(site));
  const limited = asRequest(await ask(site, "set"));
  expect([paced.reason.code, limited.reason.code]).toEqual(["paced", "limit_reached"]);
  expect(paced.reason.message).toBe(
    "1 of 2 aws free, paced: one every 24s, the next in 24s; next in line",
  );
  expect((await site.call(`GET /v1/explain/${paced.id}`)).body).toMatchObject({
    needs: [{ nextAt: "2023-11-14T22:13:44.000Z", nextBy: "aws", limits: [] }],
  });
  expect((await site.call(`GET /v1/explain/${limited.id}`)).body).toMatchObject({
    needs: [{ nextAt: null, nextBy: null, limits: [{ pool: "account", used: 1, limit: 1 }] }],
  });
  const { text } = await site.call("GET /metrics");
  expect(text).toContain('berth_pace_interval_seconds{pool="aws"} 24');
  expect(text).toContain('berth_pace_next_grant_seconds{pool="aws"} 24');
  expect(text).toContain('berth_limit_rate{pool="aws"} 2.5');
  expect(text).toContain('berth_limit_used{pool="account"} 1');
  expect(text).toContain('berth_limit_max{pool="account"} 1');
});
