import { expect, test } from "vitest";
import { testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { Proxies } from "./proxies.ts";
import { askBody, asLease, asProblem, testSite } from "./test-site.suite.ts";

const limits = {
  requests: { perSecond: 1, burst: 5 },
  failures: { perSecond: 0.5, burst: 3 },
};
const site = (proxies?: Proxies) =>
  testSite([pool("aws", 9)], {}, undefined, { ...testAuth, limits }, proxies);
const { holder, viewer, operator } = testTokens;

test("a caller beyond its limit gets 429 with Retry-After; others do not notice", async () => {
  await using here = await site();
  const lease = asLease(
    await here.call("POST /v1/leases", { body: askBody("aws"), token: holder }),
  );
  for (let count = 0; count < 4; count++) await here.call("GET /v1/pools", { token: holder });
  const refused = await here.call("GET /v1/pools", { token: holder });
  expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect(asProblem(refused)).toMatchObject({ code: "too_many_requests", retryAfterSeconds: 1 });
  // The holder of a lease that this caller has asked for keeps it.
  const beat = `POST /v1/leases/${lease.id}/heartbeat`;
  expect((await here.call(beat, { token: lease.token })).status).toBe(200);
  expect((await here.call("GET /v1/pools", { token: viewer })).status).toBe(200);
  for (const line of [
    "POST /acquire?type=aws&state=free&dest=busy&owner=me",
    "GET /metric?type=aws",
  ]) {
    const boskos = await here.call(line, { token: holder });
    expect(boskos).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  }
  expect((await here.call("POST /lease/acquire?type=aws", { token: holder })).status).toBe(429);
  const metrics = await here.call("GET /metrics", { token: operator });
  expect(metrics.text).toContain('berth_limited_calls_total{limit="requests"} 4');
  expect(metrics.text).toMatch(/^berth_audit_behind_events \d+$/m);
  await here.clock.advance(1_000);
  expect((await here.call("GET /v1/pools", { token: holder })).status).toBe(200);
});

test("wrong credentials of one address become 429, and right ones still work", async () => {
  await using here = await site();
  const wrong = { token: "wrong", from: "192.0.2.7" };
  const statuses = [];
  for (let count = 0; count < 5; count++)
    statuses.push((await here.call("GET /v1/pools", wrong)).status);
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  const refused = await here.call("GET /v1/pools", wrong);
  expect(refused.headers["retry-after"]).toBe("2");
  expect(asProblem(refused).code).toBe("too_many_failures");
  expect((await here.call("GET /v1/pools", { ...wrong, token: viewer })).status).toBe(200);
  expect((await here.call("GET /v1/pools", { token: "wrong", from: "192.0.2.8" })).status).toBe(
    401,
  );
  // Calls without credentials are no guesses.
  expect((await here.call("GET /v1/pools", { from: "192.0.2.7" })).status).toBe(401);
  const guess = await here.call("POST /v1/leases/x/heartbeat", wrong);
  expect(guess.status).toBe(429);
});

test("behind a trusted proxy the address is that of the caller", async () => {
  await using here = await site(new Proxies(["10.0.0.1"]));
  const through = (address: string) =>
    here.call("GET /v1/pools", {
      ...{ token: "wrong", from: "10.0.0.1" },
      headers: { "x-forwarded-for": address },
    });
  for (let count = 0; count < 3; count++) await through(`2001:db8::${count}`);
  expect((await through("2001:db8::ffff")).status).toBe(429);
  expect((await through("2001:db8:0:1::1")).status).toBe(401);
});

test("a server without authentication has no limits", async () => {
  await using here = await testSite([pool("aws", 1)]);
  for (let count = 0; count < 50; count++) {
    expect((await here.call("GET /v1/pools", { token: "anything" })).status).toBe(200);
  }
});
