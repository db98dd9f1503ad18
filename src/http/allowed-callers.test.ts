import { connect } from "node:net";
import { hostname } from "node:os";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { askBody, asProblem, routesOf, type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;
let address: string;
beforeAll(async () => {
  site = await testSite([pool("aws", 50)]);
  address = await site.listen();
});
afterAll(() => site[Symbol.asyncDispose]());

/** Calls of every edge, with a body if the call needs one to have an effect. */
const calls: [line: string, body?: object][] = [
  ["POST /v1/leases", askBody("aws")],
  ["PATCH /v1/resources/aws-1", { drained: true }],
  ["GET /v1/resources?names=aws-1"],
  ["GET /v1/whoami"],
  ["GET /v1/events"],
  ["GET /v1/nothing"],
  ["POST /acquire?type=aws&state=free&dest=busy&owner=me"],
  ["POST /acquirebystate?names=aws-1&state=free&dest=busy&owner=me"],
  ["POST /reset?type=aws&state=free&expire=1s&dest=dirty"],
  ["GET /metric?type=aws"],
  ["POST /acquire", { vcpus: 1 }],
  ["GET /show-pools"],
  ["POST /lease/acquire?type=aws"],
  ["POST /lease/release", { names: ["aws-1"] }],
  ["GET /"],
  ["GET /some/page"],
  ["GET /docs"],
  ["GET /docs/errors"],
  ["GET /docs/runbook"],
  ["GET /openapi.json"],
  ["GET /metrics"],
  ["GET /healthz"],
  ["OPTIONS /v1/leases"],
];

const refusedHeaders: [headers: Record<string, string>, status: number][] = [
  [{ host: "evil.example" }, 421],
  [{ host: "127.evil.example:8080" }, 421],
  [{ host: "127.0.0.1.nip.io:8080" }, 421],
  [{ origin: "http://127.evil.example" }, 403],
  [{ origin: "http://127.0.0.1.nip.io" }, 403],
  [{ origin: "http://localhost.evil.example" }, 403],
  [{ origin: "http://10.0.0.9" }, 403],
  [{ origin: "null" }, 403],
  [{ origin: "" }, 403],
  [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
];

describe.each(refusedHeaders)("a call with %j", (headers, status) => {
  test.each(calls)(`to %s is refused with ${status} and changes nothing`, async (line, body) => {
    const before = await site.state();
    const answer = await site.call(line, { headers, ...(body === undefined ? {} : { body }) });
    expect(answer).toMatchObject({ status, type: "application/problem+json" });
    const code = status === 421 ? "host_not_allowed" : "origin_not_allowed";
    expect(asProblem(answer)).toMatchObject({
      code,
      hint: expect.stringContaining("--allow-host"),
    });
    expect(await site.state()).toBe(before);
  });
});

test.each(["http://evil.example", undefined])(
  "every route refuses a call whose Origin is %j and whose Host is a stranger's",
  async (origin) => {
    const routes = routesOf(site.app.printRoutes({ commonPrefix: false }));
    expect(routes.length).toBeGreaterThan(40);
    for (const route of routes) {
      const headers = { host: "evil.example", ...(origin === undefined ? {} : { origin }) };
      expect((await site.call(route, { headers })).status, route).toBe(421);
    }
  },
);

describe("a call is answered", () => {
  test.each([
    { host: "localhost:8080" },
    { host: "127.0.0.1:9" },
    { host: "[::1]:8080" },
    { host: "berth.localhost" },
    { host: "127.0.0.1", origin: "http://127.0.0.1" },
    { host: "127.0.0.1", origin: "http://localhost:5173" },
    { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
  ])("with %j", async (headers) => {
    expect(await site.call("GET /v1/whoami", { headers })).toMatchObject({ status: 200 });
  });

  test("although the path has a host of its own", async () => {
    const headers = { host: "localhost" };
    const answer = await site.call("GET http://localhost/v1/whoami", { headers });
    expect(answer.status).toBe(200);
  });
});

/** Sends the head of a call as it is, and answers the status line with the body. */
async function callRaw(target: string, hosts: readonly string[], method = "GET") {
  const { hostname: host, port } = new URL(address);
  const socket = connect(Number(port), host);
  const lines = hosts.map((name) => `${name}\r\n`).join("");
  socket.end(`${method} ${target} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
  return await text(socket);
}

describe("on a socket", () => {
  test.each([
    [["Host: localhost", "Host: evil.example"]],
    [["Host: evil.example", "host: localhost"]],
    [["Host: localhost", "HOST: localhost"]],
  ])("a call with %j is refused", async (hosts) => {
    const answer = await callRaw("/v1/whoami", hosts);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain("more than one Host header");
  });

  test.each([
    ["http://localhost/v1/whoami", "Host: localhost", 200],
    ["http://127.0.0.1:9/v1/whoami", "Host: evil.example", 200],
    ["http://evil.example/v1/whoami", "Host: localhost", 421],
    ["http://localhost@evil.example/v1/whoami", "Host: localhost", 421],
    ["HTTP://EVIL.example:80/v1/whoami", "Host: localhost", 421],
    ["http://300.1.2.3/v1/whoami", "Host: localhost", 400],
  ])("the host of the target %s counts, not %s", async (target, host, status) => {
    expect(await callRaw(target, [host])).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test("Host counts in a call to the server as a whole", async () => {
    expect(await callRaw("*", ["Host: evil.example"], "OPTIONS")).toMatch(/^HTTP\/1\.1 421 /);
  });
});

describe("a server beyond loopback", () => {
  const statusOf = async (
    callers: { listens: string[]; hosts?: string[] },
    headers: Record<string, string>,
  ) => {
    await using reachable = await testSite([pool("aws", 1)], {}, { hosts: [], ...callers });
    const from = "10.0.0.9";
    return (await reachable.call("POST /v1/leases", { from, headers, body: askBody("aws") }))
      .status;
  };
  const named = { listens: ["berth.example.org"] };
  const everywhere = { listens: ["0.0.0.0"] };
  const allowed = { listens: ["10.0.0.5"], hosts: ["boskos.test-pods"] };
  test.each([
    [named, { host: "Berth.Example.org:8080" }, 201],
    [named, { host: "example.org" }, 421],
    [named, { host: "10.0.0.5" }, 421],
    [allowed, { host: "10.0.0.5:8080" }, 201],
    [allowed, { host: "boskos.test-pods" }, 201],
    [allowed, { host: "boskos" }, 421],
    [allowed, { host: "boskos.test-pods", origin: "https://boskos.test-pods" }, 201],
    [allowed, { host: "10.0.0.5:8080", origin: "http://10.0.0.5:8080" }, 201],
    [allowed, { host: "10.0.0.5:8080", origin: "http://10.0.0.6:8080" }, 403],
    [everywhere, { host: "10.0.0.5:8080" }, 201],
    [everywhere, { host: "[fd00::5]:8080" }, 201],
    [everywhere, { host: `${hostname()}:8080` }, 201],
    [everywhere, { host: "evil.example" }, 421],
    [everywhere, { host: "10.0.0.5:8080", origin: "http://10.0.0.5:8080" }, 201],
    [everywhere, { host: "10.0.0.5:8080", origin: "http://10.0.0.6:8080" }, 403],
    [{ listens: ["fd00::5"] }, { host: "[fd00:0::5]:8080" }, 201],
  ])("with %j answers %j with %i", async (callers, headers, status) => {
    expect(await statusOf(callers, headers)).toBe(status);
  });
});
