import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { pool } from "../../core/decide/lending.suite.ts";
import { askBody, asProblem, testSite } from "../test-site.suite.ts";
import type { Peers } from "./peers.ts";
import { RelaySignature } from "./relay-signature.ts";
import { RelayedDeliveries } from "./relayed-deliveries.ts";

/** One server as the routes see it, whose lead the test gives and takes. */
class HandPeers implements Peers {
  readonly id = "here";
  readonly isNotified = true;
  readonly staleMs = 0;
  readonly signature = new RelaySignature("secret", () => Date.now());
  readonly deliveries = new RelayedDeliveries();
  isLeading = false;
  isReachable = true;
  standing: Peers["standing"];
  readonly #changed = new Set<() => void>();
  readonly #awaited = Promise.withResolvers<void>();
  /** Resolves when a call waits for a leader. */
  readonly awaited = this.#awaited.promise;

  leader(replica: string | null, address = "http://127.0.0.1:1"): void {
    const leader = replica === null ? null : { replica, address, sinceMs: 0 };
    this.standing = { head: 0, epoch: 1, leader, remainingMs: 1, nowMs: 0 };
    for (const changed of this.#changed) changed();
  }

  async replicas(): Promise<[]> {
    return [];
  }

  onChange(changed: () => void): () => void {
    this.#changed.add(changed);
    this.#awaited.resolve();
    return () => this.#changed.delete(changed);
  }
}

async function siteWith(peers: Peers) {
  return testSite([pool("aws", 2)], {}, undefined, undefined, undefined, peers);
}

/** Another server; returns its address. */
async function server(answer: RequestListener): Promise<string> {
  const started = createServer(answer);
  await once(started.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void started.close());
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

/** A server that takes every call and closes its connection. */
async function silentServer(): Promise<{ url: string; calls: string[]; called: Promise<void> }> {
  const called = Promise.withResolvers<void>();
  const calls: string[] = [];
  const url = await server(({ method, socket }) => {
    calls.push(String(method));
    socket.destroy();
    called.resolve();
  });
  return { url, calls, called: called.promise };
}

test("a server that doubts its own lease does not call itself, and answers when it leads again", async () => {
  const peers = new HandPeers();
  const own = await silentServer();
  peers.leader(peers.id, own.url);
  await using site = await siteWith(peers);
  const asked = site.call("POST /v1/leases", { body: askBody("aws", { requestId: "k" }) });
  const read = site.call("GET /v1/leases");
  await new Promise((resolve) => setTimeout(resolve, 200)); // Long enough for a call to itself.
  peers.isLeading = true;
  peers.leader(peers.id, own.url);
  expect(await asked).toMatchObject({ status: 201, body: { requestId: "k" } });
  expect(await read).toMatchObject({ status: 200 });
  expect(own.calls).toEqual([]);
});

test("a read that only the leader can answer is refused at once while the journal is out of reach", async () => {
  const peers = new HandPeers();
  peers.leader(null);
  peers.isReachable = false;
  await using site = await siteWith(peers);
  const asked = site.call("POST /v1/leases", { body: askBody("aws") });
  for (const path of ["leases", "requests", "resources", "leases/x"]) {
    const answer = await site.call(`GET /v1/${path}`);
    expect(asProblem(answer)).toMatchObject({ status: 503, code: "journal_unavailable" });
    expect(asProblem(answer).detail).toContain("the journal cannot be reached");
  }
  // A change waits, because a leader may come.
  peers.isLeading = true;
  peers.leader(peers.id);
  expect((await asked).status).toBe(201);
});

test("a caller that goes in the middle of a body is no bug", async () => {
  const peers = new HandPeers();
  peers.leader(null);
  await using site = await siteWith(peers);
  const url = new URL(await site.listen());
  const caller = connect(Number(url.port), url.hostname);
  caller
    .resume()
    .write(
      `POST /v1/leases HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
  caller.end();
  await once(caller, "close");
  expect((await fetch(new URL("/healthz", url))).status).toBe(200);
  expect(site.log()).not.toContain("a bug");
});

test("after a call whose answer was lost, nobody says that nothing was changed", async () => {
  const peers = new HandPeers();
  const other = await silentServer();
  peers.leader("other", other.url);
  await using site = await siteWith(peers);
  const asked = site.call("POST /v1/leases", { body: askBody("aws", { requestId: "k" }) });
  await other.called;
  peers.leader(null);
  expect(asProblem(await asked)).toMatchObject({
    code: "leader_lost",
    hint: expect.stringContaining(
      "It may have had an effect; repeat the call with the same requestId",
    ),
  });
}, 60_000);

test("after a call whose answer was lost, what the next leader says of its own attempt is not passed on", async () => {
  const peers = new HandPeers();
  const other = await silentServer();
  const next = await server((_, response) => {
    const problem = { code: "journal_unavailable", hint: "Nothing was changed; try again" };
    response.writeHead(503, { "content-type": "application/problem+json" });
    response.end(JSON.stringify(problem));
  });
  peers.leader("other", other.url);
  await using site = await siteWith(peers);
  const ask = () => site.call("POST /v1/leases", { body: askBody("aws", { requestId: "k" }) });
  const asked = ask();
  await other.called;
  peers.leader("next", next);
  expect(asProblem(await asked)).toMatchObject({ status: 503, code: "leader_lost" });
  // Without an attempt before it, its word counts.
  expect(asProblem(await ask())).toMatchObject({ code: "journal_unavailable" });
});

test("a call that no leader has got had no effect", async () => {
  const peers = new HandPeers();
  peers.leader(null);
  await using site = await siteWith(peers);
  const answer = await site.call("POST /v1/leases", { body: askBody("aws", { requestId: "k" }) });
  expect(asProblem(answer)).toMatchObject({
    code: "not_leader",
    hint: expect.stringContaining("Nothing was changed"),
  });
}, 60_000);

test.each([
  ["POST /acquire?type=aws&state=free&dest=busy&owner=a", "text/plain"],
  ["POST /v1/leases", "application/problem+json"],
])("a server that stops answers %s in the form of its protocol", async (line, type) => {
  const peers = new HandPeers();
  peers.leader(null);
  await using site = await siteWith(peers);
  const body = line.startsWith("POST /v1") ? { body: askBody("aws") } : {};
  const asked = site.call(line, body);
  await peers.awaited;
  await site.app.close();
  const answer = await asked;
  expect(answer).toMatchObject({ status: 503, type });
  expect(answer.text).toContain("Cannot answer: the server is stopping");
});
