import { describe, expect, test } from "vitest";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { until } from "../broker/hand-clock.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { askBody, asLease, asRequest, type TestSite, testSite } from "./test-site.suite.ts";

/** One holder, and one who waits behind it. */
async function pair(site: TestSite, more: object = {}) {
  const ask = (body: object) => site.call("POST /v1/leases", { body });
  const holder = asLease(await ask(askBody("aws", { ttl: "10h", holder: "first" })));
  const waiter = asRequest(await ask(askBody("aws", { holder: "second", ...more })));
  return { holder, waiter };
}

describe("GET /v1/requests/{id}", () => {
  test("answers 202 while it waits and 200 with the lease once granted", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { holder, waiter } = await pair(site);
    const get = () => site.call(`GET /v1/requests/${waiter.id}`, { token: waiter.token });
    expect(await get()).toMatchObject({ status: 202, body: { id: waiter.id, position: 1 } });
    await site.call(`DELETE /v1/leases/${holder.id}`, { token: holder.token });
    expect(await get()).toMatchObject({
      status: 200,
      body: { id: waiter.id, claims: [{ userData: {} }] },
    });
  });

  test("answers as soon as it is granted, on an open connection", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { holder, waiter } = await pair(site);
    const polled = site.call(`GET /v1/requests/${waiter.id}?wait=1h`, { token: waiter.token });
    await until(() => site.broker.openWaits === 1);
    await site.call(`DELETE /v1/leases/${holder.id}`, { token: holder.token });
    expect(await polled).toMatchObject({ status: 200, body: { id: waiter.id } });
  });

  test("answers 202 when time is up", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site);
    const polled = site.call(`GET /v1/requests/${waiter.id}?wait=30s`, { token: waiter.token });
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(30_000);
    expect(await polled).toMatchObject({ status: 202, body: { waitedSeconds: 30 } });
  });

  test("answers 410 when it is over meanwhile", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site);
    const polled = site.call(`GET /v1/requests/${waiter.id}?wait=1h`);
    await until(() => site.broker.openWaits === 1);
    await site.call(`DELETE /v1/requests/${waiter.id}`, { token: waiter.token });
    expect(await polled).toMatchObject({
      status: 410,
      body: { code: "request_ended", how: "cancelled" },
    });
  });

  test("finds it by the id that the client chose, too", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site, { requestId: "mine" });
    expect(await site.call("GET /v1/requests/mine")).toMatchObject({ body: { id: waiter.id } });
  });

  test("is a sign of life only with the token", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site, { ttl: "1m" });
    await site.clock.advance(50_000);
    await site.call(`GET /v1/requests/${waiter.id}`, { token: waiter.token });
    await site.clock.advance(50_000);
    await site.call(`GET /v1/requests/${waiter.id}`);
    await site.clock.advance(10_000);
    expect(await site.call(`GET /v1/requests/${waiter.id}`)).toMatchObject({
      status: 410,
      body: { how: "abandoned" },
    });
  });

  test("shows user data only to the holder, and the token to nobody", async () => {
    await using site = await testSite([pool("aws", 1)]);
    await site.call("PATCH /v1/resources/aws-1", { body: { userData: { key: "s3cret" } } });
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    expect((await site.call(`GET /v1/requests/${id}`)).text).not.toMatch(/s3cret|token/);
    const holder = await site.call(`GET /v1/requests/${id}`, { token });
    expect(holder.text).toContain("s3cret");
    expect(holder.text).not.toContain(token);
  });

  test("finds nothing that never was", async () => {
    await using site = await testSite([pool("aws", 1)]);
    for (const line of ["GET /v1/requests/x", "GET /v1/requests/x?wait=1h", "GET /v1/explain/x"]) {
      expect(await site.call(line)).toMatchObject({
        status: 404,
        body: { code: "request_not_found" },
      });
    }
  });
});

describe("GET /v1/requests", () => {
  test("lists who waits, by pool and by holder, without tokens", async () => {
    await using site = await testSite([pool("aws", 1), pool("gcp", 1)]);
    await pair(site);
    await site.call("POST /v1/leases", { body: askBody("aws gcp", { holder: "third" }) });
    const holders = async (query: string) => {
      const { body, text } = await site.call(`GET /v1/requests${query}`);
      expect(text).not.toContain("token");
      return (body as { items: { holder: string }[] }).items.map(({ holder }) => holder).sort();
    };
    expect(await holders("")).toEqual(["second", "third"]);
    expect(await holders("?pool=gcp")).toEqual(["third"]);
    expect(await holders("?holder=second")).toEqual(["second"]);
    expect(await holders("?pool=gcp&holder=second")).toEqual([]);
  });
});

describe("DELETE /v1/requests/{id}", () => {
  test("leaves the queue; again is fine", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site);
    for (let number = 0; number < 2; number++) {
      const answer = await site.call(`DELETE /v1/requests/${waiter.id}`, { token: waiter.token });
      expect([answer.status, answer.text]).toEqual([204, ""]);
    }
  });

  test("refuses what was granted, and says how to give it back", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { holder } = await pair(site);
    const answer = await site.call(`DELETE /v1/requests/${holder.id}`, { token: holder.token });
    expect(answer).toMatchObject({
      status: 409,
      body: { code: "request_granted", hint: `Give it back with DELETE /v1/leases/${holder.id}` },
    });
  });

  test("lets an operator on this machine take somebody out", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site);
    const line = `DELETE /v1/requests/${waiter.id}?force=true`;
    expect(await site.call(line, { from: "192.168.0.9" })).toMatchObject({ status: 403 });
    expect(await site.call(line, { from: "::ffff:127.0.0.1" })).toMatchObject({ status: 204 });
  });

  test("tells of one that ended otherwise, or never was", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site, { ttl: "1m" });
    await site.clock.advance(60_000);
    expect(
      await site.call(`DELETE /v1/requests/${waiter.id}`, { token: waiter.token }),
    ).toMatchObject({ status: 410, body: { code: "request_ended", how: "abandoned" } });
    expect(await site.call("DELETE /v1/requests/x?force=true")).toMatchObject({
      status: 404,
      body: { code: "request_not_found" },
    });
  });
});

describe("GET /v1/explain/{id}", () => {
  test("says what it needs, what is free, who is ahead and who holds the rest", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { holder, waiter } = await pair(site, { requestId: "k" });
    const answer = await site.call("GET /v1/explain/k");
    expect(answer).toMatchObject({
      status: 200,
      body: {
        request: { id: waiter.id, position: 1 },
        needs: [
          {
            pool: "aws",
            needed: 1,
            available: 0,
            free: 0,
            size: 1,
            states: { busy: 1 },
            ahead: 0,
            aheadOfIt: [],
            heldBy: [
              {
                id: holder.id,
                holder: "first",
                resource: "aws-1",
                since: "2023-11-14T22:13:20.000Z",
                backBy: "2023-11-15T08:13:20.000Z",
              },
            ],
          },
        ],
      },
    });
  });

  test("refuses what was granted, and what has ended", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { holder, waiter } = await pair(site);
    expect(await site.call(`GET /v1/explain/${holder.id}`)).toMatchObject({
      status: 409,
      body: { code: "request_granted" },
    });
    await site.call(`DELETE /v1/requests/${waiter.id}`, { token: waiter.token });
    expect(await site.call(`GET /v1/explain/${waiter.id}`)).toMatchObject({
      status: 410,
      body: { code: "request_ended", how: "cancelled" },
    });
  });
});

describe("PUT /v1/requests/{id}/priority", () => {
  test("moves a waiting request ahead, and the event has the reason", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter } = await pair(site);
    const ask = (body: object) => site.call("POST /v1/leases", { body });
    const late = asRequest(await ask(askBody("aws", { holder: "third" })));
    const path = `PUT /v1/requests/${late.id}/priority`;
    const body = { priority: 5, by: "ann", reason: "the release waits" };
    expect(await site.call(path, { body })).toMatchObject({
      status: 200,
      body: { id: late.id, priority: 5, position: 1 },
    });
    const behind = await site.call(`GET /v1/requests/${waiter.id}`);
    expect(behind).toMatchObject({ body: { position: 2 } });
    const events = await site.call(`GET /v1/events/past?id=${late.id}`);
    expect(JSON.stringify(events.body)).toContain('"why":"the release waits"');
  });

  test("refuses an unknown name, a missing reason and a request that does not wait", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { waiter, holder } = await pair(site);
    const put = (id: string, body: object) => {
      return site.call(`PUT /v1/requests/${id}/priority`, { body });
    };
    const reason = "why";
    expect(await put(waiter.id, { priority: "urgent", reason })).toMatchObject({
      status: 422,
      body: {
        code: "priority_unknown",
        detail: 'Cannot use the priority "urgent": the configuration does not have it',
      },
    });
    expect(await put(waiter.id, { priority: 5 })).toMatchObject({ status: 400 });
    expect(await put(waiter.id, { priority: "5", reason })).toMatchObject({ status: 400 });
    expect(await put(waiter.id, { priority: 1e9, reason })).toMatchObject({ status: 400 });
    expect(await put(holder.id, { priority: 5, reason })).toMatchObject({
      status: 409,
      body: { code: "request_granted" },
    });
    expect(await put("nobody", { priority: 5, reason })).toMatchObject({ status: 404 });
  });
});

describe("POST /v1/requests/resume", () => {
  const resume = (site: TestSite, requestId: string) =>
    site.call("POST /v1/requests/resume", { body: { requestId } });

  test("finds a request while it waits and as a lease, with its token, as a sign of life", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const { holder, waiter } = await pair(site, { requestId: "mine", ttl: "1m" });
    for (let minute = 0; minute < 5; minute++) {
      await site.clock.advance(40_000);
      const { status, body } = await resume(site, "mine");
      expect([status, body]).toEqual([202, expect.objectContaining({ id: waiter.id })]);
      expect(body).toMatchObject({ token: waiter.token, position: 1 });
    }
    await site.call(`DELETE /v1/leases/${holder.id}`, { token: holder.token });
    for (let minute = 0; minute < 5; minute++) {
      await site.clock.advance(40_000);
      expect(await resume(site, "mine")).toMatchObject({
        status: 200,
        body: { id: waiter.id, token: waiter.token, claims: [{ pool: "aws", userData: {} }] },
      });
    }
  });

  test("makes no request, and says how one has ended", async () => {
    await using site = await testSite([pool("aws", 1)]);
    const before = await site.state();
    expect(await resume(site, "nobody-asked")).toMatchObject({
      status: 404,
      body: { code: "request_not_found" },
    });
    expect(await site.state()).toBe(before);
    const { waiter } = await pair(site, { requestId: "mine" });
    await site.call(`DELETE /v1/requests/${waiter.id}`, { token: waiter.token });
    expect(await resume(site, "mine")).toMatchObject({
      status: 410,
      body: { code: "request_ended", how: "cancelled" },
    });
    // The id of the server is public, so it proves nothing.
    expect(await resume(site, waiter.id)).toMatchObject({ status: 404 });
  });

  test("finds requests of the caller's own space only", async () => {
    await using site = await testSite([pool("aws", 2)], {}, undefined, testAuth);
    const body = { requestId: "same" };
    const asked = askBody("aws", { holder: "a", ...body });
    const { id } = asLease(
      await site.call("POST /v1/leases", { body: asked, token: testTokens.holder }),
    );
    const call = (token: string) => site.call("POST /v1/requests/resume", { body, token });
    expect(await call(testTokens.holder)).toMatchObject({ status: 200, body: { id } });
    expect(await call(otherToken)).toMatchObject({ status: 404 });
    expect(await call(testTokens.viewer)).toMatchObject({ status: 403 });
  });
});
