import { describe, expect, test } from "vitest";
import { until } from "../broker/hand-clock.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { askBody, asLease, asRequest, testSite } from "./test-site.suite.ts";

describe("POST /v1/leases", () => {
  test("answers 201 with the lease and its token", async () => {
    await using site = await testSite([pool("aws", 2, { ttlMs: 60_000, lifetimeMs: 3_600_000 })]);
    const answer = await site.call("POST /v1/leases", {
      body: askBody("aws:2", { requestId: "r/1", labels: { pr: "7" }, priority: 3 }),
    });
    expect(answer).toMatchObject({ status: 201, type: "application/json" });
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{16}$/),
      requestId: "r/1",
      token: expect.stringMatching(/^[\w-]{43}$/),
      holder: "a job",
      priority: 3,
      labels: { pr: "7" },
      ttl: "1m",
      queuedAt: "2023-11-14T22:13:20.000Z",
      grantedAt: "2023-11-14T22:13:20.000Z",
      lastHeartbeatAt: null,
      expiresAt: "2023-11-14T22:14:20.000Z",
      endsAt: "2023-11-14T23:13:20.000Z",
      revokedAt: null,
      waitedSeconds: 0,
      claims: [
        {
          id: "1",
          pool: "aws",
          resource: "aws-1",
          fence: 1_700_000_000_000_001,
          heldUntil: null,
          labels: {},
          userData: {},
        },
        {
          id: "2",
          pool: "aws",
          resource: "aws-2",
          fence: 1_700_000_000_000_002,
          heldUntil: null,
          labels: {},
          userData: {},
        },
      ],
    });
  });

  test("answers 202 with the place in line, when it cannot be granted", async () => {
    await using site = await testSite([pool("aws", 1)]);
    await site.call("POST /v1/leases", { body: askBody("aws") });
    const answer = await site.call("POST /v1/leases", { body: askBody("aws") });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      id: expect.any(String),
      requestId: null,
      token: expect.any(String),
      holder: "a job",
      priority: 0,
      labels: {},
      ttl: "5m",
      items: [{ pool: "aws", count: 1, state: "free" }],
      queuedAt: "2023-11-14T22:13:20.000Z",
      waitedSeconds: 0,
      position: 1,
      etaSeconds: null,
      estimate: null,
      noEstimate: "not_computed",
      reason: {
        code: "no_free",
        pool: "aws",
        message: "The only one of aws is held; next in line",
      },
    });
  });

  test("says at once that no start can be estimated while a check decides", async () => {
    await using site = await testSite([pool("kind", 2, { admission: { by: "the check" } })]);
    const { body } = await site.call("POST /v1/leases", { body: askBody("kind") });
    expect(body).toMatchObject({ noEstimate: "admission", reason: { code: "admission" } });
  });

  test("answers the same id with the same lease and the same token", async () => {
    await using site = await testSite([pool("aws", 2)]);
    const body = askBody("aws", { requestId: "k" });
    const first = asLease(await site.call("POST /v1/leases", { body }));
    const again = await site.call("POST /v1/leases", { body });
    expect(again.status).toBe(201);
    expect(asLease(again)).toMatchObject({ id: first.id, token: first.token });
  });

  test("answers the same id with the same request, token and place", async () => {
    await using site = await testSite([pool("aws", 1)]);
    await site.call("POST /v1/leases", { body: askBody("aws") });
    const body = askBody("aws", { requestId: "k" });
    const first = asRequest(await site.call("POST /v1/leases", { body }));
    const again = await site.call("POST /v1/leases", { body });
    expect(again.status).toBe(202);
    expect(asRequest(again)).toMatchObject({ id: first.id, token: first.token, position: 1 });
  });

  test("takes the ttl and lifetime that are asked for", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const body = askBody("aws", { ttl: "90s", lifetime: "1h30m" });
    expect(asLease(await site.call("POST /v1/leases", { body }))).toMatchObject({
      ttl: "1m30s",
      expiresAt: "2023-11-14T22:14:50.000Z",
      endsAt: "2023-11-14T23:43:20.000Z",
    });
  });

  test.each([
    ["pool_not_found", 404, "nowhere", {}],
    ["never_fits", 422, "aws:3", {}],
    ["request_id_reused", 409, "aws:2", { requestId: "k" }],
    ["request_ended", 410, "aws", { requestId: "old" }],
  ])("refuses with %s", async (code, status, wanted, more) => {
    await using site = await testSite([pool("aws", 2)]);
    await site.call("POST /v1/leases", { body: askBody("aws", { requestId: "k" }) });
    const old = asLease(
      await site.call("POST /v1/leases", { body: askBody("aws", { requestId: "old" }) }),
    );
    await site.call(`DELETE /v1/leases/${old.id}`, { token: old.token });
    const answer = await site.call("POST /v1/leases", { body: askBody(wanted, more) });
    expect(answer).toMatchObject({
      status,
      type: "application/problem+json",
      body: { code, status },
    });
  });

  test("names the pool that was probably meant", async () => {
    await using site = await testSite([pool("aws-account", 2)]);
    const { body } = await site.call("POST /v1/leases", { body: askBody("aws-acount") });
    expect(body).toMatchObject({
      title: "Pool not found",
      detail: 'Cannot find pool "aws-acount"',
      hint: 'Did you mean "aws-account"?',
      nearest: "aws-account",
      known: ["aws-account"],
    });
  });
});

describe("GET /v1/leases", () => {
  test("lists who holds what, without tokens and user data", async () => {
    await using site = await testSite([pool("aws", 2), pool("gcp", 1)]);
    await site.call("POST /v1/leases", { body: askBody("aws", { holder: "one" }) });
    await site.call("POST /v1/leases", { body: askBody("gcp", { holder: "two" }) });
    const holders = async (query: string) => {
      const { body } = await site.call(`GET /v1/leases${query}`);
      return (body as { items: { holder: string }[] }).items.map(({ holder }) => holder).sort();
    };
    expect(await holders("")).toEqual(["one", "two"]);
    expect(await holders("?pool=gcp")).toEqual(["two"]);
    expect(await holders("?holder=one")).toEqual(["one"]);
    expect(await holders("?holder=one&pool=gcp")).toEqual([]);
    expect(await holders("?pool=nowhere")).toEqual([]);
    expect((await site.call("GET /v1/leases")).text).not.toMatch(/token|userData/);
  });

  test("shows one lease; its user data only to the holder", async () => {
    await using site = await testSite([pool("aws", 1)]);
    await site.call("PATCH /v1/resources/aws-1", { body: { userData: { key: "s3cret" } } });
    const lease = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    expect(lease.claims[0]?.userData).toEqual({ key: "s3cret" });
    const stranger = await site.call(`GET /v1/leases/${lease.id}`);
    expect(stranger).toMatchObject({ status: 200, body: { id: lease.id, holder: "a job" } });
    expect(stranger.text).not.toContain("s3cret");
    const holder = await site.call(`GET /v1/leases/${lease.id}`, { token: lease.token });
    expect(asLease(holder).claims[0]?.userData).toEqual({ key: "s3cret" });
    expect(holder.text).not.toContain(lease.token);
  });
});

describe("POST /v1/leases/{id}/heartbeat", () => {
  test("keeps the lease alive for another ttl", async () => {
    await using site = await testSite([pool("aws", 1, { ttlMs: 60_000 })]);
    const lease = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const beat = () => site.call(`POST /v1/leases/${lease.id}/heartbeat`, { token: lease.token });
    for (let number = 0; number < 5; number++) {
      await site.clock.advance(50_000);
      expect((await beat()).status).toBe(200);
    }
    expect((await beat()).body).toEqual({
      id: lease.id,
      expiresAt: "2023-11-14T22:18:30.000Z",
      endsAt: null,
    });
    await site.clock.advance(60_000);
    expect(await beat()).toMatchObject({
      status: 410,
      body: { code: "lease_ended", how: "expired" },
    });
  });

  test("is told as the last one; a grace, which every lease gets after a restart, is none", async () => {
    await using site = await testSite([pool("aws", 1, { ttlMs: 60_000 })]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const read = async () => {
      const { lastHeartbeatAt, expiresAt } = asLease(await site.call(`GET /v1/leases/${id}`));
      return [lastHeartbeatAt, expiresAt];
    };
    expect(await read()).toEqual([null, "2023-11-14T22:14:20.000Z"]);
    await site.clock.advance(20_000);
    await site.broker.submit({ type: "give-grace" });
    expect(await read()).toEqual([null, "2023-11-14T22:14:40.000Z"]);
    await site.clock.advance(20_000);
    await site.call(`POST /v1/leases/${id}/heartbeat`, { token });
    await site.clock.advance(20_000);
    expect(await read()).toEqual(["2023-11-14T22:14:00.000Z", "2023-11-14T22:15:00.000Z"]);
    await site.broker.submit({ type: "give-grace" });
    expect(await read()).toEqual(["2023-11-14T22:14:00.000Z", "2023-11-14T22:15:20.000Z"]);
  });

  test.each([
    ["no body", undefined],
    ["an empty JSON body", ""],
    ["an object", {}],
  ])("takes %s", async (_, body) => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const headers = { "content-type": "application/json" };
    const answer = await site.call(`POST /v1/leases/${id}/heartbeat`, { token, body, headers });
    expect(answer.status).toBe(200);
  });
});

describe("DELETE /v1/leases/{id}", () => {
  test("gives everything back; again is fine; the next in line has it", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const next = asRequest(await site.call("POST /v1/leases", { body: askBody("aws") }));
    for (let number = 0; number < 2; number++) {
      const answer = await site.call(`DELETE /v1/leases/${id}`, { token });
      expect([answer.status, answer.text]).toEqual([204, ""]);
    }
    expect(await site.call(`GET /v1/leases/${next.id}`)).toMatchObject({ status: 200 });
  });

  test("sends it to another state, when asked to", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    await site.call(`DELETE /v1/leases/${id}?state=dirty`, { token });
    expect((await site.call("GET /v1/resources/aws-1")).body).toMatchObject({ state: "dirty" });
  });

  test("gives one claim back; the rest goes on", async () => {
    await using site = await testSite([pool("aws", 2)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws:2") }));
    const one = await site.call(`DELETE /v1/leases/${id}/claims/1?state=dirty`, { token });
    expect([one.status, one.text]).toEqual([204, ""]);
    const left = asLease(await site.call(`GET /v1/leases/${id}`, { token }));
    expect(left.claims.map((claim) => claim.resource)).toEqual(["aws-2"]);
    const wrong = await site.call(`DELETE /v1/leases/${id}/claims/9`, { token });
    expect(wrong).toMatchObject({ status: 404, body: { code: "claim_not_found" } });
  });

  test("lets an operator on this machine end somebody's lease, with a reason", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const line = `DELETE /v1/leases/${id}?force=true&by=ann&reason=stuck`;
    expect(await site.call(line, { from: "10.1.2.3" })).toMatchObject({
      status: 403,
      body: { code: "operators_only" },
    });
    expect((await site.call(line)).status).toBe(204);
    expect(site.journal.appends.flat().at(-1)).toMatchObject({
      type: "lease-revoked",
      reason: { by: "ann", why: "stuck" },
    });
    const beat = await site.call(`POST /v1/leases/${id}/heartbeat`, { token });
    const reason = { by: "ann", why: "stuck" };
    expect(beat).toMatchObject({ status: 410, body: { how: "revoked", reason } });
  });
});

describe("GET /v1/leases/{id} with wait", () => {
  test("answers as soon as an operator revokes the lease", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const watched = site.call(`GET /v1/leases/${id}?wait=1m`);
    await until(() => site.broker.openWaits === 1);
    await site.call(`DELETE /v1/leases/${id}?force=true&by=ann&reason=stuck`);
    expect(await watched).toMatchObject({ status: 200, body: { revokedAt: expect.any(String) } });
    const states = await site.call("GET /v1/pools/aws");
    expect(states.body).toMatchObject({ states: { revoking: 1 } });
    const released = await site.call(`DELETE /v1/leases/${id}`, { token });
    expect(released).toMatchObject({ status: 410, body: { code: "lease_ended", how: "revoked" } });
    expect((await site.call(`GET /v1/leases/${id}?wait=1m`)).status).toBe(410);
  });

  test("answers with a notice, also with one that came before the call", async () => {
    await using site = await testSite([pool("aws", 1, { preempt: true })]);
    const { id } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const watched = site.call(`GET /v1/leases/${id}?wait=1m`);
    await until(() => site.broker.openWaits === 1);
    await site.call("POST /v1/leases", { body: { ...askBody("aws"), priority: 5 } });
    const notice = { reason: expect.stringContaining("with priority 5 needs aws") };
    expect(await watched).toMatchObject({ status: 200, body: { notice } });
    const late = await site.call(`GET /v1/leases/${id}?wait=1m`);
    expect(late).toMatchObject({ status: 200, body: { notice } });
    const knowing = site.call(`GET /v1/leases/${id}?wait=1m&noticed=true`);
    await until(() => site.broker.openWaits === 1);
    await site.call(`DELETE /v1/leases/${id}?force=true&by=ann&reason=stuck`);
    expect(await knowing).toMatchObject({ status: 200, body: { revokedAt: expect.any(String) } });
  });

  test("answers as soon as the lease is released", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const watched = site.call(`GET /v1/leases/${id}?wait=1m`);
    await until(() => site.broker.openWaits === 1);
    await site.call(`DELETE /v1/leases/${id}`, { token });
    expect((await watched).status).toBe(410);
  });
});

describe("the calls of a holder", () => {
  const calls = [
    "POST /v1/leases/ID/heartbeat",
    "DELETE /v1/leases/ID",
    "DELETE /v1/leases/ID/claims/1",
    "DELETE /v1/requests/ID",
  ];

  test.each(calls)("%s needs the token of this very lease", async (line) => {
    await using site = await testSite([pool("aws", 2)]);
    const mine = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const other = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    const before = await site.state();
    const call = line.replace("ID", mine.id);
    const none = await site.call(call);
    expect(none).toMatchObject({
      status: 401,
      headers: { "www-authenticate": 'Bearer realm="berth"' },
      body: { code: "token_missing" },
    });
    for (const authorization of ["Basic YTpi", "Bearer", "Bearer ", mine.token]) {
      const odd = await site.call(call, { headers: { authorization } });
      expect(odd).toMatchObject({ status: 401, body: { code: "token_missing" } });
    }
    for (const token of [other.token, "x", `${mine.token}x`, mine.token.slice(1)]) {
      const wrong = await site.call(call, { token });
      expect(wrong).toMatchObject({ status: 403, body: { code: "token_wrong" } });
    }
    expect(await site.state()).toBe(before);
  });

  test.each(calls.slice(0, 3))(
    "%s tells of a lease that never was, or still waits",
    async (line) => {
      await using site = await testSite([pool("aws", 1)]);
      await site.call("POST /v1/leases", { body: askBody("aws") });
      const waits = asRequest(await site.call("POST /v1/leases", { body: askBody("aws") }));
      expect(await site.call(line.replace("ID", waits.id), { token: waits.token })).toMatchObject({
        status: 409,
        body: { code: "lease_not_granted" },
      });
      const token = site.tokens.of("nothing" as never);
      expect(await site.call(line.replace("ID", "nothing"), { token })).toMatchObject({
        status: 404,
        body: { code: "lease_not_found" },
      });
    },
  );
});

test("GET /v1/leases/{id} tells of a lease that waits, has ended, or never was", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const held = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
  const waits = asRequest(await site.call("POST /v1/leases", { body: askBody("aws") }));
  const get = (id: string) => site.call(`GET /v1/leases/${id}`);
  expect(await get(waits.id)).toMatchObject({ status: 409, body: { code: "lease_not_granted" } });
  expect(await get("x")).toMatchObject({ status: 404, body: { code: "lease_not_found" } });
  await site.call(`DELETE /v1/leases/${held.id}`, { token: held.token });
  expect(await get(held.id)).toMatchObject({
    status: 410,
    body: { code: "lease_ended", how: "released", endedAt: "2023-11-14T22:13:20.000Z" },
  });
});
