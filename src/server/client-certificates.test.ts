/** Runs the whole server in this process, and calls it with client certificates. */
import { writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ConfigStatus, Whoami } from "../api/schemas.ts";
import { tokenHash } from "../auth/static-tokens.ts";
import { callHttps, type HttpsCall } from "./https-call.suite.ts";
import type { Running } from "./main.ts";
import { daysFromNow, TestAuthority } from "./test-certificates.suite.ts";
import { TlsPlace } from "./tls-place.suite.ts";

/** Signs the certificate of the server. */
const authority = new TestAuthority();
/** Signs the certificates of clients. */
const clients = new TestAuthority("CN=Clients");
const strangers = new TestAuthority("CN=Clients");
const token = "a-token-0123456789";

const configWith = (more = "") => `
pools: { aws: { count: 1 } }
auth:
  tokens: [{ name: ci-token, sha256: ${tokenHash(token)}, space: tokens, role: viewer }]
  certificates:
    - { subject: "CN=ci-*,O=Acme", space: ci, role: holder }
    - { san: "URI:spiffe://acme/ops/*", space: ops, role: admin, name: ops }
  ${more}`;

let here: TlsPlace;
let server: Running;
beforeAll(async () => {
  here = await TlsPlace.make(configWith());
  await here.write(authority.issue());
  await writeFile(here.path("clients.pem"), clients.cert);
  server = await here.start({
    tls: {
      cert: here.path("cert.pem"),
      key: here.path("key.pem"),
      clientCa: here.path("clients.pem"),
    },
    metricsListen: "127.0.0.1:0",
  });
});
afterAll(() => here[Symbol.asyncDispose]());

const ci = clients.issue({ subject: "CN=ci-7,O=Acme" });
const ops = clients.issue({ subject: "CN=me", san: ["URI:spiffe://acme/ops/me"] });

const call = (path: string, more: Partial<HttpsCall> = {}) =>
  callHttps(`${server.url}${path}`, { ca: authority.cert, ...more });
const whoami = async (more?: Partial<HttpsCall>) => (await call("/v1/whoami", more)).body as Whoami;
const bearer = { authorization: `Bearer ${token}` };

describe("a client certificate", () => {
  test("proves who calls, by the first rule that matches", async () => {
    expect(await whoami(ci)).toMatchObject({
      ...{ name: "ci-7", space: "ci", role: "holder", proof: "certificate" },
    });
    expect(await whoami(ops)).toMatchObject({ name: "ops", role: "admin", operator: true });
    const ask = { items: [{ pool: "aws" }], holder: "a" };
    const lease = await call("/v1/leases", { ...ci, method: "POST", body: ask });
    expect(lease).toMatchObject({ status: 201, body: { space: "ci" } });
    expect(await call("/v1/pools", { maxVersion: "TLSv1.2", ...ci })).toMatchObject({
      status: 200,
    });
  });

  test("is not required, and a token counts more", async () => {
    const viewer = { name: "ci-token", space: "tokens", proof: "token" };
    expect(await whoami({ headers: bearer })).toMatchObject(viewer);
    expect(await whoami({ ...ops, headers: bearer })).toMatchObject(viewer);
    const wrong = { authorization: "Bearer nonsense" };
    expect(await call("/v1/pools", { ...ops, headers: wrong })).toMatchObject({ status: 401 });
  });

  test("is also good for the metrics", async () => {
    const metrics = (more: Partial<HttpsCall>) =>
      callHttps(`${server.metricsUrl}/metrics`, { ca: authority.cert, ...more });
    expect(await metrics(ops)).toMatchObject({ status: 200 });
    expect(await metrics({})).toMatchObject({ status: 401 });
    const stranger = { ...strangers.issue({ subject: "CN=ci-7" }), maxVersion: "TLSv1.2" } as const;
    expect(await metrics(stranger)).toMatchObject({ status: 401 });
  });

  const wrong: Record<string, [Partial<HttpsCall>, string]> = {
    "is missing": [{}, "the call has no credentials"],
    "no rule matches": [
      clients.issue({ subject: "CN=ci-7,O=Other" }),
      "because no rule of auth.certificates matches it",
    ],
    "has expired": [
      clients.issue({ subject: "CN=ci-7,O=Acme", until: daysFromNow(-1) }),
      "because it has expired",
    ],
    "is not valid yet": [
      clients.issue({ subject: "CN=ci-7,O=Acme", from: daysFromNow(1) }),
      "because it is not valid yet",
    ],
    "another authority of the same name has signed": [
      strangers.issue({ subject: "CN=ci-7,O=Acme" }),
      "because no authority that the server trusts has signed it",
    ],
    "another authority of the same name has signed, with TLS 1.2": [
      { ...strangers.issue({ subject: "CN=ci-7,O=Acme" }), maxVersion: "TLSv1.2" },
      "because no authority that the server trusts has signed it",
    ],
    "the authority of the server has signed": [
      authority.issue({ subject: "CN=ci-7,O=Acme" }),
      "because no authority that the server trusts has signed it",
    ],
    "another page uses": [
      { ...ops, headers: { origin: "http://localhost:3000" } },
      "the call has no credentials",
    ],
    "a page on another port of the server uses": [
      { ...ops, headers: { origin: "https://127.0.0.1:3000" } },
      "the call has no credentials",
    ],
  };

  test.each(Object.entries(wrong))("proves nothing if it %s", async (_, [how, message]) => {
    expect(await call("/v1/pools", how)).toMatchObject({
      status: 401,
      body: { code: "unauthenticated", detail: expect.stringContaining(message) },
    });
    const withToken = { ...how, headers: { ...how.headers, ...bearer } };
    expect(await call("/v1/pools", withToken)).toMatchObject({ status: 200 });
  });

  test("proves something to the server's own page", async () => {
    const headers = { origin: server.url };
    expect(await call("/v1/pools", { ...ops, headers })).toMatchObject({ status: 200 });
  });

  test("counts the same if a TLS session is resumed", async () => {
    const agent = new Agent({ keepAlive: false });
    expect(await call("/v1/pools", { ...ci, agent })).toMatchObject({ status: 200 });
    const again = await call("/v1/whoami", { ...ci, agent });
    expect(again).toMatchObject({ resumed: true, body: { name: "ci-7" } });
    const other = { ...strangers.issue({ subject: "CN=ci-7,O=Acme" }), agent };
    expect(await call("/v1/pools", other)).toMatchObject({ status: 401 });
    expect(await call("/v1/pools", other)).toMatchObject({ status: 401, resumed: true });
  });
});

test("the cookie of a session is for TLS only", async () => {
  const headers = { origin: server.url };
  const signIn = { method: "POST", body: { token }, headers };
  const { status, headers: answer } = await call("/v1/session", signIn);
  expect(status).toBe(200);
  expect(answer["set-cookie"]).toEqual([expect.stringMatching(/; Secure$/)]);
});

describe("the configuration", () => {
  const warnings = async () => {
    const { body } = await call("/v1/config", { headers: bearer });
    return (body as ConfigStatus).warnings;
  };

  test("may change the rules, and what counts without credentials", async () => {
    const anonymous = "anonymous: { space: public, role: viewer }";
    await here.replace("berth.yaml", configWith(anonymous));
    await server.reload();
    const stranger = clients.issue({ subject: "CN=stranger" });
    expect(await whoami(stranger)).toMatchObject({ name: "anonymous", proof: "none" });
    expect(await whoami(ci)).toMatchObject({ name: "ci-7" });
    expect(await warnings()).toEqual([]);

    await here.replace("berth.yaml", configWith(anonymous).replace("CN=ci-*", "CN=cd-*"));
    await server.reload();
    expect(await whoami(ci)).toMatchObject({ name: "anonymous" });
    await here.replace("berth.yaml", configWith());
    await server.reload();
  });

  test("is warned of if the server asks for no certificates, or has no rules", async () => {
    await using other = await TlsPlace.make(configWith());
    await other.write(authority.issue());
    const { url } = await other.start();
    const { body } = await callHttps(`${url}/v1/config`, { ca: authority.cert, headers: bearer });
    expect((body as ConfigStatus).warnings).toEqual([
      expect.stringContaining("auth.certificates changes nothing"),
    ]);
    const withoutRules = configWith().replace(/ {2}certificates:[\s\S]*$/, "");
    await here.replace("berth.yaml", withoutRules);
    await server.reload();
    expect(await warnings()).toEqual([expect.stringContaining("--tls-client-ca changes nothing")]);
    await here.replace("berth.yaml", configWith());
    await server.reload();
  });
});

test("the certificate of a trusted proxy does not count for those behind it", async () => {
  await using other = await TlsPlace.make(configWith());
  await other.write(authority.issue());
  const paths = { cert: other.path("cert.pem"), key: other.path("key.pem") };
  const tls = { ...paths, clientCa: here.path("clients.pem") };
  const { url } = await other.start({ tls, trustProxies: ["127.0.0.1"] });
  const headers = { "x-forwarded-for": "203.0.113.7" };
  const answer = await callHttps(`${url}/v1/pools`, { ca: authority.cert, ...ops, headers });
  expect(answer).toMatchObject({ status: 401 });
});

test("an authority that is removed stops to count for new connections, resumed ones too", async () => {
  await using other = await TlsPlace.make(configWith());
  await other.write(authority.issue());
  await other.replace("clients.pem", clients.cert);
  const paths = { cert: other.path("cert.pem"), key: other.path("key.pem") };
  const running = await other.start({ tls: { ...paths, clientCa: other.path("clients.pem") } });
  const agent = new Agent({ keepAlive: false });
  const get = () => callHttps(`${running.url}/v1/pools`, { ca: authority.cert, ...ci, agent });
  expect(await get()).toMatchObject({ status: 200 });
  expect(await get()).toMatchObject({ status: 200, resumed: true });
  await other.replace("clients.pem", strangers.cert);
  await running.reload();
  expect(await get()).toMatchObject({ status: 401, resumed: false });
});
