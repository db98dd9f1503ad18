/** What real clients send and rely on, however odd it is. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { capacityPool } from "../../core/shared/capacity.suite.ts";
import { testSite } from "../test-site.suite.ts";
import { type BoskosCall, BoskosSite } from "./boskos-site.suite.ts";
import { expectGoHeaders } from "./conformance.suite.ts";

const acquire = "POST /acquire?type=t&state=s&dest=d&owner=o";

describe("POST bodies and their names", () => {
  const update = "POST /update?name=res&owner=o&state=s";
  const cases: Record<string, BoskosCall & { line?: string; data?: Record<string, string> }> = {
    "curl -d: JSON that calls itself a form": {
      body: '{"key":"value"}',
      headers: { "content-type": "application/x-www-form-urlencoded" },
      data: { key: "value" },
    },
    "JSON of no length": { headers: { "content-type": "application/json", "content-length": "0" } },
    "a body without a name": { body: '{"key":"value"}', data: { key: "value" } },
    "a body in chunks": {
      body: '{"key":"value"}',
      headers: { "transfer-encoding": "chunked" },
      data: { key: "value" },
    },
    "a name that is none": {
      body: '{"key":"value"}',
      headers: { "content-type": "nonsense;;" },
      data: { key: "value" },
    },
    "what follows the first value": { body: '{"key":"value"}\n{"x', data: { key: "value" } },
    "null and a line end": { body: "null\n", headers: { "content-type": "application/json" } },
    "an empty object and a line end, as boskosctl": {
      body: "{}\n",
      headers: { "content-type": "application/json" },
    },
  };

  test.each(Object.entries(cases))("%s", async (_, call) => {
    await using site = await BoskosSite.start({ seed: ["res:t/s/o"] });
    const answer = await site.call(update, call);
    expect(answer).toMatchObject({ status: 200, text: "" });
    expectGoHeaders(answer);
    expect(await site.userData("res")).toEqual(call.data ?? {});
  });

  test("a body that cannot be read is told as Go tells it, and changes nothing", async () => {
    await using site = await BoskosSite.start({ seed: ["res:t/s/o"] });
    const answer = await site.call(update, { body: "x" });
    const text = "invalid character 'x' looking for beginning of value\n";
    expect(answer).toMatchObject({ status: 400, text });
    expectGoHeaders(answer);
    expect(await site.userData("res")).toEqual({});
  });

  test.each([
    [
      "NUL in a value",
      { key: "s3cret\0" },
      'the value of "key" in its user data has a NUL character',
    ],
    [
      "a value of 200 kB",
      { key: "s3cret".repeat(33_000) },
      'the value of "key" in its user data has more than 16384 characters',
    ],
    [
      "a control character in a name",
      { "key\u009b": "s3cret" },
      "a key of user data is empty, has more than 253 characters or has a control character",
    ],
    [
      "more than a resource may have",
      Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${n}`, "s3cret".repeat(300)])),
      "its user data would have more than 65536 characters in total",
    ],
  ])("user data with %s is refused, is not repeated, and changes nothing", async (_, data, why) => {
    await using site = await BoskosSite.start({ seed: ["res:t/s/o"] });
    const answer = await site.call(update, { body: JSON.stringify(data) });
    const text = `Update failed: res - s (o): ${why}\n`;
    expect(answer).toMatchObject({ status: 400, text });
    expectGoHeaders(answer);
    expect(await site.userData("res")).toEqual({});
  });

  test.each(["/acquire", "/release", "/reset", "/acquirebystate"])(
    "POST %s reads no parameters from a body",
    async (path) => {
      await using site = await BoskosSite.start({ seed: ["res:t/s/o", "free:t/s/"] });
      const body = "type=t&state=s&dest=d&owner=o&name=res&names=free&expire=0";
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      expect((await site.call(`POST ${path}`, { body, headers })).status).toBe(400);
      expect(await site.stored()).toEqual(["free:t/s/", "res:t/s/o"]);
    },
  );

  test("POST /acquire does not care for a body that is no JSON", async () => {
    await using site = await BoskosSite.start({ seed: ["res:t/s/"] });
    const headers = { "content-type": "application/json" };
    expect((await site.call(acquire, { body: "{", headers })).status).toBe(200);
  });
});

test("HEAD is not accepted, and says so without a body", async () => {
  await using site = await BoskosSite.start({ seed: ["res:t/s/"] });
  for (const path of ["/acquire", "/acquirebystate", "/release", "/update", "/reset", "/metric"]) {
    const answer = await site.call(`HEAD ${path}?type=t`);
    expect(answer).toMatchObject({ status: 405, text: "" });
    expect(answer.headers.allow).toBeUndefined();
  }
});

test.each([
  ["POST //acquire?type=t&a=%20+", "/acquire?type=t&a=%20+"],
  ["GET /x/../acquire", "/acquire"],
  ["GET /./metric?type=t", "/metric?type=t"],
  ["GET //", "/"],
  ["GET /a/..", "/"],
  ["POST /a//b/", "/a/b/"],
])("%s leads to %s, as Go's router has it", async (call, location) => {
  await using site = await BoskosSite.start();
  expect(await site.call(call)).toMatchObject({ status: 301, headers: { location } });
});

test("a reason stands in every status line, for those who print it", async () => {
  await using site = await BoskosSite.start({ seed: ["res:t/s/x"] });
  const lines: string[] = [];
  for (const call of [acquire, "POST /release?name=res&dest=d&owner=o", "GET /acquire", "GET /"]) {
    lines.push(await statusLine(site, call));
  }
  expect(lines).toEqual([
    "HTTP/1.1 404 Not Found",
    "HTTP/1.1 401 Unauthorized",
    "HTTP/1.1 405 Method Not Allowed",
    "HTTP/1.1 200 OK",
  ]);
});

async function statusLine(site: BoskosSite, call: string): Promise<string> {
  const socket = connect(site.port, "127.0.0.1").setEncoding("utf8");
  socket.write(`${call} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text.split("\r\n", 1)[0] ?? "";
}

describe("a connection that is kept", () => {
  test("is kept longer than Go's clients keep it", async () => {
    await using site = await BoskosSite.start();
    const { headers } = await site.call("GET /", { headers: { connection: "keep-alive" } });
    const [, seconds] = /^timeout=(\d+)$/.exec(String(headers["keep-alive"])) ?? [];
    expect(Number(seconds)).toBeGreaterThan(90);
    expect(site.app.server.keepAliveTimeout).toBeGreaterThan(90_000);
  });

  test("is idle for longer than that before the server itself closes it", async () => {
    await using site = await BoskosSite.start();
    const connected = once(site.app.server, "connection") as Promise<[Socket]>;
    const socket = connect(site.port, "127.0.0.1");
    const [serverSide] = await connected;
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "data");
    // What Node set on this very connection once it had answered; it is not waited for here.
    await until(() => serverSide.timeout !== undefined && serverSide.timeout > 0);
    expect(serverSide.timeout).toBeGreaterThan(90_000);
    socket.destroy();
  });

  test("serves one call after the other, whatever the answers were", async () => {
    await using site = await BoskosSite.start({ seed: ["res:t/s/"] });
    const socket = connect(site.port, "127.0.0.1").setEncoding("utf8");
    let text = "";
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    const calls = ["GET /acquire", acquire, "POST /release?name=res&dest=s&owner=o", acquire];
    for (const [index, call] of calls.entries()) {
      socket.write(`${call} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
      const answered = () => text.split("HTTP/1.1 ").length > index + 1;
      while (!answered()) await new Promise((resolve) => socket.once("data", resolve));
    }
    expect(text.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(["405", "200", "200", "200"]);
    socket.destroy();
  });
});

describe("a state that only the server itself uses", () => {
  const calls = ["busy", "cooling", "drained"].flatMap((state) => [
    `POST /release?name=res&dest=${state}&owner=o`,
    `POST /reset?type=t&state=s&expire=0s&dest=${state}`,
  ]);
  test.each(calls)("%s is refused, and parks no resource", async (call) => {
    await using site = await BoskosSite.start({ seed: ["res:t/s/o", "other:t/free/"] });
    const before = await site.stored();
    const answer = await site.call(call);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/: only the server puts a resource into the state "\w+"\n$/);
    expectGoHeaders(answer);
    expect(await site.stored()).toEqual(before);
  });
});

describe("a type that is shared by amounts", () => {
  const shared = capacityPool({ "hv-1": { capacity: { vcpus: 8 } } });
  test.each([
    ["POST /acquire?type=vsphere&state=free&dest=busy&owner=o", 404],
    ["POST /acquire?type=vsphere&state=free&dest=busy&owner=o&request_id=1", 404],
    ["POST /acquirebystate?names=hv-1&state=free&dest=busy&owner=o", 404],
    ["POST /release?name=hv-1&dest=free&owner=o", 401],
    ["POST /update?name=hv-1&state=free&owner=o", 401],
    ["POST /reset?type=vsphere&state=free&expire=0s&dest=dirty", 200],
    ["GET /metric?type=vsphere", 200],
  ])("%s is answered %i, as if there were none", async (call, status) => {
    await using site = await testSite([shared]);
    const answer = await site.call(call);
    expect(answer.status, answer.text).toBe(status);
    if (status === 404)
      expect(answer.text).toMatch(/no available resource \S+, try again later.\n$/);
  });
});
