import { expect, test } from "vitest";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import type { PoolName, SpaceName } from "../core/model/ids.ts";
import { defaultSpacePolicy } from "../core/model/space.ts";
import { askBody, asLease, asProblem, asRequest, testSite } from "./test-site.suite.ts";

const { holder, viewer } = testTokens;
const pools = [pool("aws", 4)];

async function site() {
  const here = await testSite(pools, {}, undefined, testAuth);
  const quotas = [{ pool: "aws" as PoolName, max: 2 }];
  const policy = { ...defaultSpacePolicy, weight: 2, quotas, waitingMax: 2 };
  await here.broker.submit({
    type: "configure",
    pools,
    spaces: { spaces: [{ name: "team" as SpaceName, policy }], others: defaultSpacePolicy },
  });
  const ask = (wanted: string, token: string = holder) => {
    return here.call("POST /v1/leases", { token, body: askBody(wanted) });
  };
  return Object.assign(here, { ask });
}

test("GET /v1/spaces has shares, quotas and what is held; a holder sees its own", async () => {
  await using here = await site();
  await here.ask("aws:2");
  await here.ask("aws");
  await here.ask("aws", otherToken);
  const team = {
    ...{ name: "team", weight: 2, share: 0.25, leases: 1, waiting: 1, waitingMax: 2 },
    holds: [{ pool: "aws", dimension: null, held: 2, capacity: 4 }],
    waits: [{ pool: "aws", requests: 1 }],
    quotas: [
      {
        ...{ pool: "aws", dimension: null, held: 2, max: 2, cohort: null },
        heldBy: [{ id: expect.any(String), holder: "a job" }],
      },
    ],
  };
  const other = {
    ...{ name: "other", weight: 1, share: 0.25, leases: 1, waiting: 0, waitingMax: null },
    holds: [{ pool: "aws", dimension: null, held: 1, capacity: 4 }],
    waits: [],
    quotas: [],
  };
  const listed = async (token: string) => (await here.call("GET /v1/spaces", { token })).body;
  expect(await listed(viewer)).toEqual({ items: [other, team], next: null });
  expect(await listed(holder)).toEqual({ items: [team], next: null });
});

test("GET /v1/spaces counts a request that waits below a limit once for the limit", async () => {
  const under = { parent: "account" as PoolName };
  const below = [pool("aws", 4, under), pool("gcp", 4, under)];
  const limited = [pool("account", [], { limit: 2 }), ...below];
  await using here = await testSite(limited, {}, undefined, testAuth);
  for (const wanted of ["aws:2", "gcp", "aws gcp"]) {
    await here.call("POST /v1/leases", { token: holder, body: askBody(wanted) });
  }
  const { body } = await here.call("GET /v1/spaces", { token: viewer });
  const waits = (body as { items: { waits: { pool: string; requests: number }[] }[] }).items[0]
    ?.waits;
  expect(waits?.toSorted((a, b) => a.pool.localeCompare(b.pool))).toEqual([
    ...[{ pool: "account", requests: 2 }],
    ...[{ pool: "aws", requests: 1 }],
    ...[{ pool: "gcp", requests: 2 }],
  ]);
});

test("a request that waits for its quota is told so, with the numbers", async () => {
  await using here = await site();
  const lease = asLease(await here.ask("aws:2"));
  const waits = asRequest(await here.ask("aws"));
  expect(waits.reason).toMatchObject({
    code: "quota_reached",
    message: "team holds 2 of its quota of 2 aws (a job), 1 needed; next of its space",
  });
  const explained = await here.call(`GET /v1/explain/${waits.id}`, { token: holder });
  expect(explained.body).toMatchObject({
    space: { name: "team", share: 0.25, spacesAhead: 0, quotas: [{ held: 2, max: 2 }] },
  });
  await here.call(`DELETE /v1/leases/${lease.id}`, { token: lease.token });
  const granted = await here.call(`GET /v1/requests/${waits.id}`, { token: waits.token });
  expect(granted.status).toBe(200);
});

test("a request that does not wait is told if only its quota stops it", async () => {
  await using here = await site();
  await here.ask("aws:2");
  const body = { ...askBody("aws"), nowOnly: true };
  const refused = await here.call("POST /v1/leases", { token: holder, body });
  expect(refused.status).toBe(409);
  expect(asProblem(refused)).toMatchObject({
    ...{ code: "none_free", pool: "aws", reason: "quota_reached" },
    detail: "Cannot lend aws now: team holds 2 of its quota of 2 aws (a job), 1 needed",
    hint: "Release what your space no longer needs, ask again later, or wait in the queue",
  });
  await here.ask("aws:2", otherToken);
  const none = await here.call("POST /v1/leases", { token: otherToken, body });
  expect(asProblem(none)).toMatchObject({ detail: "Cannot lend aws now: none is free" });
  expect(asProblem(none)).not.toHaveProperty("reason");
});

test("what the space may never have is refused, and so is one request too many", async () => {
  await using here = await site();
  const never = await here.ask("aws:3");
  expect(never.status).toBe(422);
  expect(asProblem(never)).toMatchObject({
    code: "quota_too_small",
    detail: 'Cannot ever grant 3 claims of aws: the quota of the space "team" is 2',
  });
  // More than the pool has, and more than the quota: the hint is the smaller of the two.
  expect(asProblem(await here.ask("aws:5"))).toMatchObject({
    code: "quota_too_small",
    hint: "Ask for at most 2, or ask the operators of the server for a larger quota",
  });
  for (const wanted of ["aws:2", "aws", "aws"]) await here.ask(wanted);
  const full = await here.ask("aws");
  expect(full.status).toBe(429);
  expect(full.headers["retry-after"]).toEqual(expect.any(String));
  expect(asProblem(full)).toMatchObject({ code: "too_many_waiting", max: 2 });
});
