import { expect, test } from "vitest";
import { sessionMs } from "../auth/sessions.ts";
import { testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { asProblem, type TestSite, testSite } from "./test-site.suite.ts";

const site = () => testSite([pool("aws", 2)], {}, undefined, testAuth);
/** As a browser sends them from the server's own page. */
const ownPage = { host: "localhost:80", origin: "http://localhost:80" };
const drain = { body: { drained: true } };

async function signIn(here: TestSite, token: string): Promise<string> {
  const answer = await here.call("POST /v1/session", { body: { token }, headers: ownPage });
  expect(answer.status).toBe(200);
  return String(answer.headers["set-cookie"]);
}

const sentBack = (cookie: string) => cookie.split(";")[0] ?? "";

test("a user signs in with a token, acts, and signs out", async () => {
  await using here = await site();
  const cookie = await signIn(here, testTokens.operator);
  expect(cookie).toMatch(
    /^berth_session=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/,
  );
  expect(cookie).not.toContain(testTokens.operator);
  const headers = { ...ownPage, cookie: `theme=dark; ${sentBack(cookie)}` };
  const { origin: _, ...reading } = headers;
  const read = { ...reading, "sec-fetch-site": "same-origin" };
  expect((await here.call("GET /v1/pools", { headers: read })).status).toBe(200);
  expect((await here.call("GET /v1/whoami", { headers: read })).body).toMatchObject({
    name: "operator",
    operator: true,
  });
  const line = "PATCH /v1/resources/aws-1";
  expect((await here.call(line, { ...drain, headers })).status).toBe(200);
  const out = await here.call("DELETE /v1/session", { headers });
  expect(out).toMatchObject({ status: 200, body: { issuer: null } });
  expect(out.headers["set-cookie"]).toMatch(/^berth_session=; .*Max-Age=0/);
});

test("a session ends after its time, and with its token", async () => {
  await using here = await site();
  const cookie = sentBack(await signIn(here, testTokens.viewer));
  const call = () => here.call("GET /v1/pools", { headers: { ...ownPage, cookie } });
  expect((await call()).status).toBe(200);
  here.auth.configure({ tokens: [], issuers: [] });
  expect((await call()).status).toBe(401);
  here.auth.configure(testAuth);
  expect((await call()).status).toBe(200);
  await here.clock.advance(sessionMs);
  expect((await call()).status).toBe(401);
});

test("a session in use lasts longer, for at most a day; one that nobody uses does not", async () => {
  await using here = await site();
  let cookie = sentBack(await signIn(here, testTokens.viewer));
  const unused = cookie;
  const read = (sent: string, more: object = {}) => {
    return here.call("GET /v1/pools", { headers: { ...ownPage, cookie: sent, ...more } });
  };
  const idOf = async (sent: string) => {
    const headers = { host: ownPage.host, "sec-fetch-site": "same-origin", cookie: sent };
    return (await here.call("GET /v1/whoami", { headers })).body as { session: string };
  };
  const { session } = await idOf(cookie);
  expect((await read(cookie)).headers["set-cookie"]).toBeUndefined();
  let hours = 0;
  for (; hours < 30; hours += 5) {
    await here.clock.advance(5 * 3_600_000);
    const { status, headers } = await read(cookie);
    if (status === 401) break;
    if (headers["set-cookie"] !== undefined) cookie = sentBack(String(headers["set-cookie"]));
    expect((await idOf(cookie)).session).toBe(session);
    if (hours > 5) expect((await read(unused)).status).toBe(401);
  }
  expect(hours).toBe(20);
  // A token in the header, or a wrong one, renews nothing.
  const again = sentBack(await signIn(here, testTokens.viewer));
  await here.clock.advance(5 * 3_600_000);
  const authorization = `Bearer ${testTokens.viewer}`;
  expect((await read(again, { authorization })).headers["set-cookie"]).toBeUndefined();
  here.auth.configure({ tokens: [], issuers: [] });
  expect((await read(again)).headers["set-cookie"]).toBeUndefined();
});

test.each([
  ["a page on another port of this machine", { origin: "http://localhost:3000" }],
  ["a page of the same site", { "sec-fetch-site": "same-site" }],
  ["nobody who says where it comes from", {}],
])("%s cannot use the session", async (_, headers) => {
  await using here = await site();
  const cookie = sentBack(await signIn(here, testTokens.operator));
  const before = await here.state();
  const all = { host: ownPage.host, cookie, ...headers };
  const answer = await here.call("PATCH /v1/resources/aws-1", { ...drain, headers: all });
  expect(answer.status).toBe(403);
  expect(asProblem(answer).code).toBe("origin_not_allowed");
  expect(await here.state()).toBe(before);
});

test("a wrong token, and one from another page, make no session", async () => {
  await using here = await site();
  const wrong = await here.call("POST /v1/session", { body: { token: "x" }, headers: ownPage });
  expect(wrong.status).toBe(401);
  const headers = { host: ownPage.host, origin: "http://localhost:3000" };
  const body = { token: testTokens.viewer };
  const other = await here.call("POST /v1/session", { body, headers });
  expect(other.status).toBe(403);
  for (const answer of [wrong, other]) expect(answer.headers["set-cookie"]).toBeUndefined();
});

test("a token in the header goes before the session", async () => {
  await using here = await site();
  const cookie = sentBack(await signIn(here, testTokens.admin));
  const call = { token: testTokens.viewer, headers: { ...ownPage, cookie } };
  expect((await here.call("GET /v1/whoami", call)).body).toMatchObject({ name: "viewer" });
});
