import { describe, expect, test } from "vitest";
import { until } from "../broker/hand-clock.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { JournalConflict, JournalUnavailable } from "../journal/journal.ts";
import { askBody, asLease, asProblem, type TestSite, testSite } from "./test-site.suite.ts";

const full = () => new JournalUnavailable("Cannot append: the disk is full");

async function withFullDisk(): Promise<{ site: TestSite; lease: ReturnType<typeof asLease> }> {
  const site = await testSite([pool("aws", 2)]);
  const lease = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
  site.journal.appendFails = full();
  return { site, lease };
}

describe("while the journal cannot be written", () => {
  test("what changes anything answers 503, when to retry, and that nothing has changed", async () => {
    const { site, lease } = await withFullDisk();
    await using _site = site;
    const before = await site.state();
    const { token } = lease;
    const answers = [
      await site.call("POST /v1/leases", { body: askBody("aws") }),
      await site.call(`DELETE /v1/leases/${lease.id}`, { token }),
      await site.call(`DELETE /v1/leases/${lease.id}/claims/1`, { token }),
      await site.call("PATCH /v1/resources/aws-1", { body: { drained: true } }),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
      expect(asProblem(answer)).toMatchObject({
        code: "journal_unavailable",
        hint: expect.stringContaining("Nothing was changed"),
      });
    }
    expect(await site.state()).toBe(before);
  });

  test("the hint is that of the error, so that nobody looks at the wrong disk", async () => {
    const { site } = await withFullDisk();
    await using _site = site;
    const hint = "Check that PostgreSQL runs";
    site.journal.appendFails = new JournalUnavailable("Cannot append: refused", { hint });
    const answer = await site.call("POST /v1/leases", { body: askBody("aws") });
    expect(asProblem(answer).hint).toBe(
      "Nothing was changed; try again. Operators: check that PostgreSQL runs",
    );
  });

  test("heartbeats and questions work", async () => {
    const { site, lease } = await withFullDisk();
    await using _site = site;
    await site.call("POST /v1/leases", { body: askBody("aws") });
    const { token } = lease;
    expect((await site.call(`POST /v1/leases/${lease.id}/heartbeat`, { token })).status).toBe(200);
    for (const path of ["leases", "pools", "resources", "requests", `leases/${lease.id}`]) {
      expect((await site.call(`GET /v1/${path}`)).status).toBe(200);
    }
  });

  test("it is alive, but not ready", async () => {
    const { site } = await withFullDisk();
    await using _site = site;
    expect((await site.call("GET /readyz")).status).toBe(200);
    await site.call("POST /v1/leases", { body: askBody("aws") });
    expect((await site.call("GET /healthz")).status).toBe(200);
    expect((await site.call("GET /readyz")).status).toBe(503);
    expect((await site.call("GET /metrics")).text).toContain("berth_journal_writable 0");
    site.journal.appendFails = undefined;
    await site.clock.advance(2_000);
    expect((await site.call("GET /readyz")).status).toBe(200);
    expect((await site.call("GET /metrics")).text).toContain("berth_journal_writable 1");
  });

  test("the same id gets the lease whose commit was made after all", async () => {
    await using site = await testSite([pool("aws", 2)]);
    site.journal.losesNextReply = full();
    const body = askBody("aws", { requestId: "k" });
    const lost = await site.call("POST /v1/leases", { body });
    expect(lost.status).toBe(503);
    expect(asProblem(lost).hint).toMatch(
      /^It may have had an effect; repeat it with the same requestId/,
    );
    await site.clock.advance(2_000);
    expect((await site.call("POST /v1/leases", { body })).status).toBe(201);
    expect(await site.broker.read((state) => state.leases.size)).toBe(1);
  });
});

test("a broker with too much to do answers 503", async () => {
  await using site = await testSite([pool("aws", 9)], { pendingMax: 1 });
  site.journal.shut();
  const first = site.call("POST /v1/leases", { body: askBody("aws") });
  await site.journal.arrived;
  const answers = [1, 2, 3].map(() => site.call("POST /v1/leases", { body: askBody("aws") }));
  const refused = await Promise.any(
    answers.map(async (answer) => {
      const { status, body, headers } = await answer;
      if (status !== 503) throw new Error(`it was answered with ${status}`);
      return { body, headers };
    }),
  );
  expect(refused).toMatchObject({ body: { code: "overloaded" }, headers: { "retry-after": "1" } });
  site.journal.open();
  await Promise.all([first, ...answers]);
});

describe("while another server leads", () => {
  test("commands and questions answer 503 not_leader, and it is alive but not ready", async () => {
    await using site = await testSite([pool("aws", 2)], { onConflict: () => "step-down" });
    site.journal.appendFails = new JournalConflict("Cannot append: another has");
    for (const call of ["POST /v1/leases", "POST /v1/leases", "GET /v1/pools"]) {
      const body = call.startsWith("POST") ? { body: askBody("aws") } : {};
      expect(await site.call(call, body)).toMatchObject({
        status: 503,
        headers: { "retry-after": "1" },
        body: { code: "not_leader" },
      });
    }
    expect((await site.call("GET /healthz")).status).toBe(200);
    expect(await site.call("GET /readyz")).toMatchObject({
      status: 503,
      text: "no server leads that it could reach\n",
    });
  });
});

test("a broker that is stopping answers 503", async () => {
  await using site = await testSite([pool("aws", 1)]);
  await site.broker.close();
  expect(await site.call("POST /v1/leases", { body: askBody("aws") })).toMatchObject({
    status: 503,
    body: { code: "shutting_down" },
  });
});

test("a broker that stops answers those who wait", async () => {
  await using site = await testSite([pool("aws", 1)]);
  await site.call("POST /v1/leases", { body: askBody("aws") });
  const waiting = site.call("POST /v1/leases", { body: askBody("aws", { wait: "1h" }) });
  await until(() => site.broker.openWaits === 1);
  await site.broker.close();
  expect([202, 503]).toContain((await waiting).status);
});
