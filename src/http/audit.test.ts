import { expect, test } from "vitest";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { entryOfLine, lineOfEntry } from "../insight/audit/chain.ts";
import type { ChainedEntry } from "../insight/audit/entry.ts";
import { ChainCheck } from "../insight/audit/verify.ts";
import { type Answer, askBody, asLease, asProblem, testSite } from "./test-site.suite.ts";

const site = () => testSite([pool("aws", 2)], {}, undefined, testAuth);
const { operator, holder, viewer } = testTokens;
const list = ({ body }: Answer) => (body as { items: ChainedEntry[] }).items;

test("GET /v1/audit shows who did what, with filters", async () => {
  await using here = await site();
  const { id } = asLease(
    await here.call("POST /v1/leases", { body: askBody("aws"), token: holder }),
  );
  const revoke = `DELETE /v1/leases/${id}?force=true&gone=true&by=bob&reason=stuck%20job`;
  expect((await here.call(revoke, { token: operator })).status).toBe(204);
  const read = async (query: string) =>
    list(await here.call(`GET /v1/audit?${query}`, { token: operator }));
  expect(await read("by=operator")).toMatchObject([
    {
      ...{ action: "lease-ended", by: "operator", as: "bob", space: "team", way: "http" },
      ...{ reason: "stuck job", lease: id, holder: "a job", resources: ["aws-1"] },
    },
  ]);
  expect((await read(`lease=${id}`)).map(({ action }) => action)).toEqual([
    "lease-ended",
    "lease-granted",
  ]);
  expect(await read("text=STUCK")).toHaveLength(1);
  expect(await read("pool=aws&action=lease-granted&by=holder&way=http&space=team")).toHaveLength(1);
  for (const part of ["BOB", "operator%20(bob)", "tor%20(b", "of%20space%20team"]) {
    expect((await read(`caller=${part}&action=lease-ended`)).map(({ as }) => as)).toEqual(["bob"]);
  }
  expect(await read("caller=alice")).toEqual([]);
  expect(await read("by=opera")).toEqual([]);
  expect(await read("since=2100-01-01")).toEqual([]);
  expect(await read("text=%3Cscript%3E&by=%22%0A")).toEqual([]);
});

test("the lease that a refresh made has the same caller in the audit, and so has its end", async () => {
  await using here = await site();
  const { id, token } = asLease(
    await here.call("POST /v1/leases", { body: askBody("aws"), token: holder }),
  );
  const again = asLease(await here.call(`POST /v1/leases/${id}/refresh`, { token, body: {} }));
  const ended = await here.call(`DELETE /v1/leases/${again.id}`, { token: again.token });
  expect(ended.status).toBe(204);
  const entries = list(await here.call("GET /v1/audit", { token: operator }));
  const byLease = entries.filter(({ lease }) => lease !== undefined);
  expect(byLease.map(({ action, by }) => [action, by])).toEqual([
    ["lease-ended", "holder"],
    ["lease-granted", "holder"],
    ["lease-ended", "holder"],
    ["lease-granted", "holder"],
  ]);
});

test("GET /v1/audit finds labels by their text, whatever these are called", async () => {
  await using here = await site();
  const body = { labels: { toString: "odd", constructor: "name" } };
  const changed = await here.call("PATCH /v1/resources/aws-1", { body, token: operator });
  expect(changed.status).toBe(200);
  const found = await here.call("GET /v1/audit?text=odd", { token: operator });
  expect([found.status, list(found).map(({ action }) => action)]).toEqual([
    200,
    ["resource-changed"],
  ]);
});

test.each([
  ["limit=0", 400],
  ["limit=x", 400],
  ["after=-1", 400],
  ["since=yesterday", 400],
  ["since=2026-02-30", 400],
  ["since=2024-02-29", 200],
  ["way=pigeon", 400],
  ["order=random", 400],
  ["colour=red", 400],
  ["action=foo", 400],
  ["action=configuration-changed", 200],
  ["action=room-kept", 200],
  [`text=${"x".repeat(300)}`, 400],
  ["after=999999999999999", 200],
])("GET /v1/audit?%s is answered with %i", async (query, status) => {
  await using here = await site();
  const answer = await here.call(`GET /v1/audit?${query}`, { token: operator });
  expect(answer.status).toBe(status);
});

test("GET /v1/audit refuses an unknown action, and names the nearest or all", async () => {
  await using here = await site();
  const hintOf = async (action: string) =>
    asProblem(await here.call(`GET /v1/audit?action=${action}`, { token: operator })).hint;
  expect(await hintOf("lease-grant")).toBe('Did you mean "lease-granted"?');
  expect(await hintOf("foo")).toMatch(
    /^Use one of audit-started, .*sign-in-refused, spaces-defined$/,
  );
});

test("the pages of the API are the chain, with its anchor", async () => {
  await using here = await site();
  const hostile = `"\n<script>\u202e\ud800\u0000 ${"é".repeat(20)}`;
  for (const name of ["a", hostile, "b"]) {
    const body = askBody("aws", { holder: name });
    await here.call("POST /v1/leases", { body, token: holder });
  }
  const check = new ChainCheck();
  let cursor = "";
  let anchor: unknown;
  do {
    const page = await here.call(`GET /v1/audit?order=oldest&limit=2${cursor}`, {
      token: operator,
    });
    for (const item of list(page)) {
      const entry = entryOfLine(lineOfEntry(item));
      if (entry === undefined) throw new Error(`Cannot read ${JSON.stringify(item)}`);
      check.add(entry);
    }
    const { next, anchor: last } = page.body as { next: string | null; anchor: unknown };
    anchor = last;
    cursor = next === null ? "" : `&after=${next}`;
  } while (cursor !== "");
  const report = check.finish();
  expect(report.problems).toEqual([]);
  expect(report.last).toEqual(anchor);
  expect(report.entries).toBeGreaterThan(6);
});

test("refused acts on others and refused credentials are recorded, without the credentials", async () => {
  await using here = await site();
  const drain = { body: { drained: true, userData: { key: "s3cret" } } };
  expect((await here.call("PATCH /v1/resources/aws-1", { ...drain, token: viewer })).status).toBe(
    403,
  );
  expect((await here.call("GET /v1/audit", { token: otherToken })).status).toBe(403);
  expect((await here.call("GET /v1/pools", { token: "not-a-token" })).status).toBe(401);
  expect((await here.call("GET /v1/pools")).status).toBe(401);
  const answer = await here.call("GET /v1/audit?order=oldest", { token: operator });
  const refused = list(answer).filter(({ action }) => /refused/.test(action));
  expect(refused).toMatchObject([
    {
      action: "call-refused",
      by: "viewer",
      detail: { call: "PATCH /v1/resources/:name", object: "aws-1" },
    },
    { action: "call-refused", by: "other", space: "other", detail: { call: "GET /v1/audit" } },
    { action: "sign-in-refused", detail: { call: "GET /v1/pools", address: "127.0.0.1" } },
  ]);
  for (const secret of ["not-a-token", "s3cret", viewer, otherToken]) {
    expect(answer.text).not.toContain(secret);
  }
});

test("heartbeats and reads are not recorded", async () => {
  await using here = await site();
  const lease = asLease(
    await here.call("POST /v1/leases", { body: askBody("aws"), token: holder }),
  );
  const read = () => here.call("GET /v1/audit", { token: operator });
  const before = list(await read()).length;
  await here.call(`POST /v1/leases/${lease.id}/heartbeat`, { token: lease.token });
  await here.call(`GET /v1/leases/${lease.id}`, { token: lease.token });
  expect(list(await read())).toHaveLength(before);
});

test("a damaged file is 503, and lending goes on", async () => {
  await using here = await site();
  here.insight.audit.store.database.exec("DROP TABLE audit");
  const answer = await here.call("GET /v1/audit", { token: operator });
  expect(answer.status).toBe(503);
  expect(asProblem(answer).code).toBe("audit_unavailable");
  const ask = { body: askBody("aws"), token: holder };
  expect((await here.call("POST /v1/leases", ask)).status).toBe(201);
});
