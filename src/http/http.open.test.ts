/** What is not as it should be today; each test is a repro, and goes to its subject's file once mended. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { settled, until } from "../broker/hand-clock.suite.ts";
import { pool } from "../core/lending.suite.ts";
import { askBody, asLease, asRequest, type TestSite, testSite } from "./test-site.suite.ts";

async function waitingSite() {
  const site = await testSite([pool("aws", 1)]);
  const url = await site.listen();
  const body = askBody("aws", { ttl: "10h" });
  const holder = asLease(await site.call("POST /v1/leases", { body }));
  return { site, url, holder };
}

test("GET /v1/events lets go of a reader that hangs up, at whatever moment", async () => {
  const { site, url } = await waitingSite();
  await using _site = site;
  let listeners = 0;
  const listen = site.broker.listen.bind(site.broker);
  site.broker.listen = (listener) => {
    listeners += 1;
    const stop = listen(listener);
    return () => {
      listeners -= 1;
      stop();
    };
  };
  const late = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const read = site.journal.read.bind(site.journal);
  site.journal.read = async function* (seq) {
    asked.resolve();
    await late.promise;
    yield* read(seq);
  };
  const serverSawIt = new Promise((resolve) => {
    site.app.server.once("connection", (socket) => socket.once("close", resolve));
  });
  const hungUp = new AbortController();
  const early = fetch(`${url}/v1/events`, { signal: hungUp.signal }).catch(() => "hung up");
  await asked.promise;
  hungUp.abort();
  await early;
  await serverSawIt;
  late.resolve();
  await settled();
  expect(listeners).toBe(0);
});

test("a connection may be closed with requests unanswered", async () => {
  const { site, url } = await waitingSite();
  await using _site = site;
  const { port, hostname } = new URL(url);
  const body = JSON.stringify(askBody("aws", { wait: "1h" }));
  const post = `POST /v1/leases HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(Number(port), hostname);
  socket.write(post + post);
  await until(() => site.broker.openWaits === 2);
  socket.destroy();
  await until(() => site.broker.openWaits === 0);
  await until(() => ends(site).length === 2);
  expect(ends(site)).toEqual(["disconnected", "disconnected"]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

const ends = (site: TestSite) =>
  site.journal.appends
    .flat()
    .flatMap((event) => (event.type === "request-left" ? [event.why] : []));

test.each(["a poll", "a repeated ask"])(
  "%s without a wait takes no presence from an open connection",
  async (what) => {
    const { site } = await waitingSite();
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
  const { site, url } = await waitingSite();
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
