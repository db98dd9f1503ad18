import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Whoami } from "../api/schemas.ts";
import { testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { Proxies } from "./proxies.ts";
import { asProblem, type Call, type TestSite, testSite } from "./test-site.suite.ts";

const callers = { listens: ["0.0.0.0"], hosts: ["berth.example"] };
const proxies = new Proxies(["10.0.0.0/8", "127.0.0.1", "2001:db8::/32"]);

let direct: TestSite;
let behind: TestSite;
beforeAll(async () => {
  direct = await testSite([pool("aws", 1)], {}, callers);
  behind = await testSite([pool("aws", 1)], {}, callers, undefined, proxies);
});
afterAll(async () => {
  await direct[Symbol.asyncDispose]();
  await behind[Symbol.asyncDispose]();
});

const forwardedFor = (addresses: string) => ({ "x-forwarded-for": addresses });
const drain = "PATCH /v1/resources/aws-1";

/** Whether the caller counts as one on the machine of the server, who may act on others. */
async function isOperator(site: TestSite, call: Call): Promise<boolean> {
  const changed = await site.call(drain, { body: { drained: false }, ...call });
  const whoami = (await site.call("GET /v1/whoami", call)).body as Whoami;
  expect(whoami.operator).toBe(changed.status === 200);
  if (changed.status !== 200) expect(asProblem(changed).code).toBe("operators_only");
  return changed.status === 200;
}

describe("without a trusted proxy the headers of proxies do not count:", () => {
  test.each([
    ["a caller elsewhere stays elsewhere", "203.0.113.7", forwardedFor("127.0.0.1"), false],
    ["a caller here stays here", "127.0.0.1", forwardedFor("203.0.113.7"), true],
  ])("%s", async (_, from, headers, expected) => {
    expect(await isOperator(direct, { from, headers })).toBe(expected);
  });

  test("the forwarded host neither opens nor closes the server", async () => {
    const named = (host: string, forwarded: string) => ({
      headers: { host, "x-forwarded-host": forwarded },
    });
    const evil = await direct.call("GET /v1/pools", named("evil.example", "berth.example"));
    expect(evil.status).toBe(421);
    const good = await direct.call("GET /v1/pools", named("berth.example", "evil.example"));
    expect(good.status).toBe(200);
  });
});

describe("behind a trusted proxy", () => {
  test.each([
    ["an address elsewhere, through a proxy here", "127.0.0.1", "203.0.113.7", false],
    ["loopback that the caller has written", "127.0.0.1", "127.0.0.1, 203.0.113.7", false],
    [
      "loopback that the caller has written twice",
      "10.1.1.1",
      "127.0.0.1, ::1, 203.0.113.7",
      false,
    ],
    ["loopback, through two proxies", "10.1.1.1", "127.0.0.1, 203.0.113.7, 10.2.2.2", false],
    ["an address with a port", "10.1.1.1", "203.0.113.7:4711", false],
    ["a name of loopback", "10.1.1.1", "localhost", false],
    ["a short form of loopback", "10.1.1.1", "127.1", false],
    ["no address", "10.1.1.1", "unknown", false],
    ["nothing", "127.0.0.1", "", false],
    ["only commas", "127.0.0.1", " , ,", false],
    ["loopback", "127.0.0.1", "127.0.0.1", true],
    ["loopback in brackets", "10.1.1.1", "[::1]:4711", true],
    ["loopback, through a proxy with IPv6", "2001:db8::5", "::1", true],
    ["loopback, through a proxy with a mapped address", "::ffff:10.1.1.1", "127.0.0.1", true],
  ])("the forwarded address counts: %s", async (_, from, addresses, expected) => {
    expect(await isOperator(behind, { from, headers: forwardedFor(addresses) })).toBe(expected);
  });

  test("a proxy that names no caller is not the caller", async () => {
    expect(await isOperator(behind, { from: "127.0.0.1" })).toBe(false);
  });

  test("a caller that is no proxy cannot claim an address", async () => {
    const headers = forwardedFor("127.0.0.1");
    expect(await isOperator(behind, { from: "203.0.113.7", headers })).toBe(false);
    expect(await isOperator(behind, { from: "192.168.0.1", headers })).toBe(false);
  });

  const from = "10.1.1.1";
  const status = async (headers: Record<string, string>, sender = from) =>
    (await behind.call("GET /v1/pools", { from: sender, headers })).status;

  test("the forwarded host is the name that must be allowed", async () => {
    const inside = "berth.svc.cluster";
    expect(await status({ host: inside, "x-forwarded-host": "berth.example" })).toBe(200);
    expect(await status({ host: inside })).toBe(421);
    expect(await status({ host: "berth.example" })).toBe(200);
    expect(await status({ host: "localhost", "x-forwarded-host": "evil.example" })).toBe(421);
    // The proxy has added the last one.
    const both = "berth.example, evil.example";
    expect(await status({ host: "localhost", "x-forwarded-host": both })).toBe(421);
    const spoofed = { host: "evil.example", "x-forwarded-host": "berth.example" };
    expect(await status(spoofed, "203.0.113.7")).toBe(421);
  });

  test("pages are compared with the forwarded host and protocol", async () => {
    const page = (origin: string, host: string, proto = "https") =>
      status({ host: "localhost", origin, "x-forwarded-host": host, "x-forwarded-proto": proto });
    expect(await page("https://192.0.2.1", "192.0.2.1")).toBe(200);
    expect(await page("https://192.0.2.1", "192.0.2.1:443")).toBe(200);
    expect(await page("https://192.0.2.1:8443", "192.0.2.1")).toBe(403);
    expect(await page("https://192.0.2.9", "192.0.2.1")).toBe(403);
    expect(await page("http://192.0.2.1", "192.0.2.1")).toBe(403);
    expect(await page("http://192.0.2.1", "192.0.2.1", "http")).toBe(200);
  });
});

test("behind a trusted proxy, a session belongs to the page under the forwarded host", async () => {
  await using site = await testSite([pool("aws", 1)], {}, callers, testAuth, proxies);
  const page = {
    host: "berth.svc.cluster",
    origin: "https://berth.example",
    "x-forwarded-host": "berth.example",
    "x-forwarded-proto": "https",
  };
  const body = { token: testTokens.operator };
  const call = { from: "10.1.1.1", body, headers: page };
  const signedIn = await site.call("POST /v1/session", call);
  expect(signedIn.status).toBe(200);
  const cookie = String(signedIn.headers["set-cookie"]);
  expect(cookie).toMatch(/; Secure$/);
  const headers = { ...page, cookie: cookie.split(";")[0] ?? "" };
  const change = { ...call, body: { drained: true }, headers };
  expect((await site.call(drain, change)).status).toBe(200);
  const other = { ...change, headers: { ...headers, origin: "https://berth.svc.cluster" } };
  expect((await site.call(drain, other)).status).toBe(403);
});

test("a lease proxy without a name is named after the forwarded address", async () => {
  const call = { from: "10.1.1.1", headers: forwardedFor("203.0.113.7") };
  await behind.call("POST /lease/acquire?type=aws", call);
  expect((await behind.call("GET /v1/leases")).text).toContain("lease-proxy@203.0.113.7");
});
