/** What only shows on real connections: hanging up, being woken, being answered too late. */
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { settled, until } from "../broker/hand-clock.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import type { RequestId } from "../core/model/ids.ts";
import { askBody, asLease, asRequest, type TestSite, testSite } from "./test-site.suite.ts";

interface Open {
  readonly call: ClientRequest;
  readonly answer: Promise<{ readonly status: number; readonly text: string }>;
}

/** Sends a request on a connection of its own, and leaves it open. */
function open(url: string, line: string, body?: object, token?: string): Open {
  const [method = "GET", path = "/"] = line.split(" ");
  const call = request(`${url}${path}`, {
    method,
    agent: false,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  const answer = once(call, "response").then(async ([response]: IncomingMessage[]) => {
    let text = "";
    for await (const chunk of response ?? []) text += chunk;
    return { status: response?.statusCode ?? 0, text };
  });
  answer.catch(() => {});
  call.end(body === undefined ? undefined : JSON.stringify(body));
  return { call, answer };
}

async function heldSite(): Promise<{
  site: TestSite;
  url: string;
  holder: ReturnType<typeof asLease>;
}> {
  const site = await testSite([pool("aws", 1)]);
  const url = await site.listen();
  const holder = asLease(
    await site.call("POST /v1/leases", { body: askBody("aws", { ttl: "10h" }) }),
  );
  return { site, url, holder };
}

const giveBack = (site: TestSite, { id, token }: { id: string; token: string }) =>
  site.call(`DELETE /v1/leases/${id}`, { token });

const line = (site: TestSite) => site.broker.read((state) => [...state.requests.keys()]);
const endOf = (site: TestSite, id: string) =>
  site.broker.read((state) => state.ended.get(id as RequestId)?.how);

const ends = (site: TestSite) =>
  site.journal.appends
    .flat()
    .flatMap((event) => (event.type === "request-left" ? [event.why] : []));

describe("POST /v1/leases on an open connection", () => {
  test("answers 201 as soon as it is granted", async () => {
    const { site, url, holder } = await heldSite();
    await using _site = site;
    const asked = open(url, "POST /v1/leases", askBody("aws", { wait: "1h" }));
    await until(() => site.broker.openWaits === 1);
    await giveBack(site, holder);
    const { status, text } = await asked.answer;
    expect(status).toBe(201);
    expect(JSON.parse(text)).toMatchObject({
      claims: [{ resource: "aws-1" }],
      token: expect.any(String),
    });
  });

  test("answers 202 when time is up, and keeps its place", async () => {
    const { site, url } = await heldSite();
    await using _site = site;
    const asked = open(url, "POST /v1/leases", askBody("aws", { wait: "30s" }));
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(30_000);
    expect((await asked.answer).status).toBe(202);
    expect(await line(site)).toHaveLength(1);
  });

  test("misses no grant that is committed together with it", async () => {
    const { site, url, holder } = await heldSite();
    await using _site = site;
    site.journal.shut();
    const patched = site.call("PATCH /v1/resources/aws-1", { body: { note: "busy journal" } });
    await site.journal.arrived;
    const before = site.journal.appends.length;
    const asked = site.broker.submit({
      type: "acquire",
      id: "early" as RequestId,
      ask: { holder: "x", items: [{ pool: "aws" as never, count: 1 }], key: "k" },
      waitMs: 0,
    });
    const long = open(url, "POST /v1/leases", {
      ...askBody("aws"),
      holder: "x",
      requestId: "k",
      wait: "1h",
    });
    await once(site.app.server, "request");
    await settled();
    const released = giveBack(site, holder);
    await settled();
    site.journal.open();
    await Promise.all([patched, asked, released]);
    expect((await long.answer).status).toBe(201);
    expect(site.journal.appends.length).toBeGreaterThan(before);
  });

  test("leaves the queue when it hangs up, without an id to come back with", async () => {
    const { site, url } = await heldSite();
    await using _site = site;
    const asked = open(url, "POST /v1/leases", askBody("aws", { wait: "1h" }));
    await until(() => site.broker.openWaits === 1);
    const [id = ""] = await line(site);
    asked.call.destroy();
    await until(() => site.journal.appends.flat().at(-1)?.type === "request-left");
    expect(await line(site)).toEqual([]);
    expect(await endOf(site, id)).toBe("disconnected");
  });

  test("keeps its place when it hangs up, with an id, for one ttl", async () => {
    const { site, url } = await heldSite();
    await using _site = site;
    const body = askBody("aws", { wait: "1h", requestId: "k", ttl: "1m" });
    const asked = open(url, "POST /v1/leases", body);
    await until(() => site.broker.openWaits === 1);
    const [id = ""] = await line(site);
    asked.call.destroy();
    await until(() => site.broker.openWaits === 0);
    await site.clock.advance(59_000);
    expect(await line(site)).toEqual([id]);
    await site.clock.advance(1_000);
    expect(await endOf(site, id)).toBe("abandoned");
  });

  test("stays present while another connection waits for the same id", async () => {
    const { site, url, holder } = await heldSite();
    await using _site = site;
    const body = askBody("aws", { wait: "1h", requestId: "k", ttl: "1m" });
    const first = open(url, "POST /v1/leases", body);
    await until(() => site.broker.openWaits === 1);
    const second = open(url, "POST /v1/leases", body);
    await until(() => site.broker.openWaits === 2);
    first.call.destroy();
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(1_800_000);
    await giveBack(site, holder);
    expect((await second.answer).status).toBe(201);
  });

  test("is present for as long as its connection is open, whatever its ttl", async () => {
    const { site, url, holder } = await heldSite();
    await using _site = site;
    const asked = open(url, "POST /v1/leases", askBody("aws", { wait: "1h", ttl: "1s" }));
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(3_599_000);
    await giveBack(site, holder);
    expect((await asked.answer).status).toBe(201);
  });

  test("gets the lease whose answer was lost, with the same id", async () => {
    const { site, url, holder } = await heldSite();
    await using _site = site;
    const body = askBody("aws", { wait: "1h", requestId: "k" });
    const asked = open(url, "POST /v1/leases", body);
    await until(() => site.broker.openWaits === 1);
    const [id] = await line(site);
    asked.call.destroy();
    await giveBack(site, holder);
    const again = await site.call("POST /v1/leases", { body });
    expect(again).toMatchObject({ status: 201, body: { id } });
  });

  test("expires when its answer was lost, and nobody comes back", async () => {
    const { site, url, holder } = await heldSite();
    await using _site = site;
    const asked = open(
      url,
      "POST /v1/leases",
      askBody("aws", { wait: "1h", ttl: "1m", requestId: "k" }),
    );
    await until(() => site.broker.openWaits === 1);
    const [id = ""] = await line(site);
    await giveBack(site, holder);
    asked.call.destroy();
    await site.clock.advance(60_000);
    expect(await endOf(site, id)).toBe("expired");
  });
});

describe("GET /v1/requests/{id} on an open connection", () => {
  test("keeps its place for one ttl when it hangs up", async () => {
    const { site, url } = await heldSite();
    await using _site = site;
    const { id, token } = asRequest(
      await site.call("POST /v1/leases", { body: askBody("aws", { ttl: "1m" }) }),
    );
    const polled = open(url, `GET /v1/requests/${id}?wait=1h`, undefined, token);
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(600_000);
    polled.call.destroy();
    await until(() => site.broker.openWaits === 0);
    await site.clock.advance(59_000);
    expect(await line(site)).toEqual([id]);
    await site.clock.advance(1_000);
    expect(await endOf(site, id)).toBe("abandoned");
  });
});

describe("a connection", () => {
  async function say(url: string, text: string | Buffer): Promise<string> {
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(text);
    let heard = "";
    for await (const chunk of socket) heard += chunk;
    return heard;
  }

  const head = "HTTP/1.1\r\nHost: localhost\r\n";

  test("carries several requests sent at once, answered in order", async () => {
    const { site, url } = await heldSite();
    await using _site = site;
    const text = await say(
      url,
      `GET /healthz ${head}\r\nGET /v1/pools/none ${head}\r\nGET /readyz ${head}Connection: close\r\n\r\n`,
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200"]);
  });

  test.each([
    ["no HTTP at all", "NONSENSE\r\n\r\n", 400],
    ["a header that is none", `GET / HTTP/1.1\r\n: x\r\n\r\n`, 400],
    ["headers without end", `GET / ${head}X: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["two lengths", `POST /v1/leases ${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, 400],
    [
      "a length and chunks",
      `POST /v1/leases ${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      400,
    ],
    ["a length that is negative", `POST /v1/leases ${head}Content-Length: -2\r\n\r\n{}`, 400],
    ["bytes", Buffer.from([0x16, 0x03, 0x01, 0x00, 0xff, 0x01]), 400],
  ])("with %s is answered with a problem, and closed", async (_, text, status) => {
    const { site, url } = await heldSite();
    await using _site = site;
    const before = await site.state();
    const heard = await say(url, text);
    expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(heard.toLowerCase()).toContain("content-type: application/problem+json");
    const problem = JSON.parse(heard.slice(heard.indexOf("\r\n\r\n")));
    expect(problem).toMatchObject({ code: expect.any(String), hint: expect.any(String), status });
    expect(await site.state()).toBe(before);
  });

  test("that ends in the middle of a body leaves nothing behind", async () => {
    const { site, url } = await heldSite();
    await using _site = site;
    const before = await site.state();
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/leases ${head}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"items"`,
    );
    socket.end();
    socket.resume();
    await once(socket, "close");
    expect(await site.state()).toBe(before);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

test("a type without a body is no body, whether its length is told or not", async () => {
  const { site, url, holder } = await heldSite();
  await using _site = site;
  const { port, hostname } = new URL(url);
  const { id, token } = holder;
  for (const length of ["", "Content-Length: 0\r\n"]) {
    const socket = connect(Number(port), hostname);
    const type = `Content-Type: application/json\r\n${length}`;
    socket.write(
      `POST /v1/leases/${id}/heartbeat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${type}\r\n`,
    );
    const [reply] = await once(socket, "data");
    expect(String(reply)).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  }
});

test("a connection may be closed with requests unanswered", async () => {
  const { site, url } = await heldSite();
  await using _site = site;
  const { port, hostname } = new URL(url);
  const body = JSON.stringify(askBody("aws", { wait: "1h" }));
  const post = `POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(Number(port), hostname);
  socket.write(post + post);
  await until(() => site.broker.openWaits === 2);
  socket.destroy();
  await until(() => site.broker.openWaits === 0);
  await until(() => ends(site).length === 2);
  expect(ends(site)).toEqual(["disconnected", "disconnected"]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test.each(["a poll", "a repeated ask"])(
  "%s without a wait takes no presence from an open connection",
  async (what) => {
    const { site } = await heldSite();
    await using _site = site;
    const body = askBody("aws", { requestId: "k", ttl: "1m" });
    const { id, token } = asRequest(await site.call("POST /v1/leases", { body }));
    const polled = site.call(`GET /v1/requests/${id}?wait=1h`, { token });
    await until(() => site.broker.openWaits === 1);
    if (what === "a poll") await site.call(`GET /v1/requests/${id}`, { token });
    else await site.call("POST /v1/leases", { body });
    await site.clock.advance(1_800_000);
    expect(ends(site)).toEqual([]);
    await site.call(`DELETE /v1/requests/${id}`, { token });
    await polled;
  },
);

test("an onlooker does not stand in for a holder that hung up", async () => {
  const { site, url } = await heldSite();
  await using _site = site;
  const body = askBody("aws", { requestId: "k", ttl: "1m", wait: "1h" });
  const hungUp = new AbortController();
  const headers = { "content-type": "application/json" };
  const asked = fetch(`${url}/v1/leases`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: hungUp.signal,
  }).catch(() => {});
  await until(() => site.broker.openWaits === 1);
  const watched = site.call("GET /v1/requests/k?wait=1h");
  await until(() => site.broker.openWaits === 2);
  hungUp.abort();
  await asked;
  await until(() => site.broker.openWaits === 1);
  await settled();
  await site.clock.advance(120_000);
  expect(ends(site)).toEqual(["abandoned"]);
  await watched;
});

test("a request must arrive soon: its headers first, then the rest", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const { headersTimeout, requestTimeout } = site.app.server;
  expect({ headersTimeout, requestTimeout }).toEqual({
    headersTimeout: 15_000,
    requestTimeout: 30_000,
  });
});
