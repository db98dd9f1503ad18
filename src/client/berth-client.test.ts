import { describe, expect, test } from "vitest";
import { BerthClient, BerthUnreachable, LeaseLost, NotGranted, Problem } from "./berth-client.ts";
import {
  type Answer,
  aLease,
  aRequest,
  cut,
  problem,
  reply,
  scriptedServer,
} from "./scripted-server.suite.ts";

const ask = { items: [{ pool: "aws" }], holder: "ci/1" };
const granted: Answer = (_, response) => reply(response, 201, aLease({ token: "secret" }));
const waiting: Answer = (_, response) => reply(response, 202, aRequest({ token: "secret" }));
const done: Answer = (_, response) => reply(response, 204);
const say =
  (status: number, code: string, facts?: object): Answer =>
  (_, response) =>
    reply(response, status, problem(status, code, facts));
/** Each call gets the next answer; the last answer repeats. */
const inTurn =
  (...answers: Answer[]): Answer =>
  (received, response, nth) =>
    answers[Math.min(nth, answers.length - 1)]?.(received, response, nth);
const leftOpen: Answer = () => {};

describe("acquire()", () => {
  test("returns a lease that is granted at once, with its token", async () => {
    await using server = await scriptedServer({ "POST /v1/leases": granted });
    const lease = await new BerthClient({ url: server.url }).acquire(ask);
    expect(lease).toMatchObject({ id: "r1", token: "secret" });
  });

  test("polls with the token until it is granted, and keeps the token", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": waiting,
      "GET /v1/requests/r1": inTurn(
        (_, response) => reply(response, 202, aRequest({ position: 1 })),
        (_, response) => reply(response, 200, aLease()),
      ),
    });
    const positions: number[] = [];
    const lease = await new BerthClient({ url: server.url }).acquire(ask, {
      onWaiting: ({ position }) => positions.push(position),
    });
    expect(lease.token).toBe("secret");
    expect(positions).toEqual([2, 1]);
    const poll = server.received[1];
    expect(poll?.query.get("wait")).toBe("30s");
    expect(poll?.authorization).toBe("Bearer secret");
  });

  const passing: Record<string, Answer> = {
    "the connection was cut": (_, response) => cut(response),
    "the journal is unavailable": say(503, "journal_unavailable"),
    "a proxy says 502 with a page": (_, response) => void response.writeHead(502).end("<html>"),
    "a proxy says 504": say(504, "timeout"),
  };
  test.each(Object.entries(passing))("retries with the same id when %s", async (_, failure) => {
    await using server = await scriptedServer({
      "POST /v1/leases": inTurn(failure, waiting),
      "GET /v1/requests/r1": inTurn(failure, (_received, response) =>
        reply(response, 200, aLease()),
      ),
    });
    const retries: string[] = [];
    const lease = await new BerthClient({ url: server.url }).acquire(ask, {
      onRetry: ({ name }) => retries.push(name),
    });
    expect(lease.token).toBe("secret");
    expect(retries).toHaveLength(2);
    const [first, second] = server.received.map(({ body }) => body);
    expect(first).toMatchObject({ requestId: expect.stringMatching(/^[\w-]{36}$/) });
    expect(second).toEqual(first);
  });

  test("sends the same id again when the server has lost the request", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": inTurn(waiting, granted),
      "GET /v1/requests/r1": say(404, "request_not_found"),
    });
    await new BerthClient({ url: server.url }).acquire({ ...ask, requestId: "mine" });
    expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v1/leases",
      "GET /v1/requests/r1",
      "POST /v1/leases",
    ]);
  });

  test("sends a new id when the server ended the request as abandoned", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": inTurn(waiting, granted),
      "GET /v1/requests/r1": say(410, "request_ended", { how: "abandoned" }),
    });
    await new BerthClient({ url: server.url }).acquire(ask);
    const ids = server.received.flatMap(({ path, body }) =>
      path === "/v1/leases" && body ? [JSON.stringify(body)] : [],
    );
    expect(new Set(ids).size).toBe(2);
  });

  test("throws the Problem without a retry when the server refuses", async () => {
    await using server = await scriptedServer({ "POST /v1/leases": say(404, "pool_not_found") });
    const refusal = await new BerthClient({ url: server.url }).acquire(ask).catch((e) => e);
    expect(refusal).toBeInstanceOf(Problem);
    expect(refusal).toMatchObject({ code: "pool_not_found", status: 404 });
    expect(server.received).toHaveLength(1);
  });

  test("throws BerthUnreachable when the connection is refused", async () => {
    const server = await scriptedServer({});
    await server[Symbol.asyncDispose]();
    const asking = new BerthClient({ url: server.url }).acquire(ask, { connectMs: 1 });
    await expect(asking).rejects.toThrow(BerthUnreachable);
    await expect(asking).rejects.toThrow(`Cannot reach the server at ${server.url}: connection`);
  });

  test("leaves the queue when the signal aborts", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": waiting,
      "GET /v1/requests/r1": leftOpen,
      "DELETE /v1/requests/r1": done,
    });
    const stop = new AbortController();
    const asking = new BerthClient({ url: server.url }).acquire(ask, { signal: stop.signal });
    await server.until(({ method }) => method === "GET");
    stop.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(server.received.at(-1)).toMatchObject({
      method: "DELETE",
      authorization: "Bearer secret",
    });
  });

  test("leaves the queue when the signal aborts before the first response", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": inTurn(leftOpen, waiting),
      "DELETE /v1/requests/r1": done,
    });
    const stop = new AbortController();
    const cutting: typeof fetch = (input, init) =>
      fetch(input, { ...init, signal: AbortSignal.any([stop.signal]) });
    let calls = 0;
    const once: typeof fetch = (input, init) =>
      calls++ === 0 ? cutting(input, init) : fetch(input, init);
    const client = new BerthClient({ url: server.url, fetch: once });
    const asking = client.acquire(ask, { signal: stop.signal });
    await server.until(({ method }) => method === "POST");
    stop.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(server.received.map(({ method }) => method)).toEqual(["POST", "POST", "DELETE"]);
  });

  test("gives back a lease whose grant it has given up on, and says so", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": inTurn((_, response) => cut(response), granted),
      "DELETE /v1/requests/r1": say(409, "request_granted"),
      "DELETE /v1/leases/r1": done,
    });
    const steps: string[] = [];
    const asking = new BerthClient({ url: server.url }).acquire(ask, {
      connectMs: 0,
      onGivingUp: (step) => steps.push(step),
    });
    await expect(asking).rejects.toThrow("the connection was cut");
    expect(steps).toEqual(["trying"]);
    const [first, second] = server.received;
    expect(second?.body).toEqual(first?.body);
    expect(server.received.at(-1)).toMatchObject({ method: "DELETE", path: "/v1/leases/r1" });
  });

  test("does not try that when nothing was sent", async () => {
    const steps: string[] = [];
    const asking = new BerthClient({ url: "http://127.0.0.1:1" }).acquire(ask, {
      connectMs: 0,
      onGivingUp: (step) => steps.push(step),
    });
    await expect(asking).rejects.toThrow("Cannot reach the server");
    expect(steps).toEqual([]);
  });

  test("releases a lease that was granted while it left the queue", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": waiting,
      "GET /v1/requests/r1": leftOpen,
      "DELETE /v1/requests/r1": say(409, "request_granted"),
      "DELETE /v1/leases/r1": done,
    });
    const stop = new AbortController();
    const asking = new BerthClient({ url: server.url }).acquire(ask, { signal: stop.signal });
    await server.until(({ method }) => method === "GET");
    stop.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(server.received.at(-1)).toMatchObject({ method: "DELETE", path: "/v1/leases/r1" });
  });

  test("releases a lease that was granted at the moment of the abort", async () => {
    const stop = new AbortController();
    await using server = await scriptedServer({
      "POST /v1/leases": (_, response) => {
        stop.abort(new Error("enough"));
        reply(response, 201, aLease({ token: "secret" }));
      },
      "DELETE /v1/requests/r1": say(409, "request_granted"),
      "DELETE /v1/leases/r1": done,
    });
    const asking = new BerthClient({ url: server.url }).acquire(ask, { signal: stop.signal });
    await expect(asking).rejects.toThrow("enough");
    expect(server.received.at(-1)).toMatchObject({ method: "DELETE", path: "/v1/leases/r1" });
  });

  test("leaves the queue and throws NotGranted at the timeout", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": waiting,
      "DELETE /v1/requests/r1": done,
    });
    const asking = new BerthClient({ url: server.url }).acquire(ask, { timeoutMs: 0 });
    await expect(asking).rejects.toThrow(NotGranted);
    expect(server.received.map(({ method }) => method)).toEqual(["POST", "DELETE"]);
  });

  test("returns a lease that was granted at the timeout", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": waiting,
      "DELETE /v1/requests/r1": say(409, "request_granted"),
      "GET /v1/requests/r1": (_, response) => reply(response, 200, aLease()),
    });
    const lease = await new BerthClient({ url: server.url }).acquire(ask, { timeoutMs: 0 });
    expect(lease).toMatchObject({ id: "r1", token: "secret" });
  });
});

describe("release()", () => {
  const held = { id: "r1", token: "secret" };
  const outcomes: Record<string, { script: Answer; want: string }> = {
    "returns released": { script: done, want: "released" },
    "retries after a cut connection": {
      script: inTurn((_, response) => cut(response), done),
      want: "released",
    },
    "returns gone when the lease has ended": { script: say(410, "lease_ended"), want: "gone" },
    "returns gone when the server does not know the lease": {
      script: say(404, "lease_not_found"),
      want: "gone",
    },
  };
  test.each(Object.entries(outcomes))("release() %s", async (_, { script, want }) => {
    await using server = await scriptedServer({ "DELETE /v1/leases/r1": script });
    expect(await new BerthClient({ url: server.url }).release(held)).toBe(want);
  });

  test("throws when a proxy answers instead of the server", async () => {
    await using server = await scriptedServer({
      "DELETE /v1/leases/r1": (_, response) => void response.writeHead(404).end("no backend"),
    });
    const releasing = new BerthClient({ url: server.url }).release(held, { state: "dirty" });
    await expect(releasing).rejects.toMatchObject({ code: "unexpected_reply" });
    expect(server.received[0]?.query.get("state")).toBe("dirty");
  });
});

describe("withLease()", () => {
  const short: Answer = (_, response) =>
    reply(response, 201, aLease({ token: "secret", ttl: "600ms" }));
  const beat: Answer = (_, response) =>
    reply(response, 200, { id: "r1", expiresAt: "2030-01-01T00:00:00.600Z", endsAt: null });
  const heartbeats = "POST /v1/leases/r1/heartbeat";
  const untilAborted = (signal: AbortSignal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

  test("sends heartbeats while the work runs, then releases the lease", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": short,
      [heartbeats]: beat,
      "DELETE /v1/leases/r1": done,
    });
    const beats = () => server.received.filter(({ path }) => path.endsWith("/heartbeat")).length;
    const result = await new BerthClient({ url: server.url }).withLease(ask, async (lease) => {
      await server.until(() => beats() >= 5); // Longer than the ttl: three heartbeats per ttl.
      return `${lease.claims[0]?.resource} ${lease.signal.aborted}`;
    });
    expect(result).toBe("aws-1 false");
    expect(server.received.at(-1)?.method).toBe("DELETE");
  });

  test("releases the lease when the work throws", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": short,
      [heartbeats]: beat,
      "DELETE /v1/leases/r1": done,
    });
    const work = new BerthClient({ url: server.url }).withLease(ask, async () => {
      throw new Error("tests failed");
    });
    await expect(work).rejects.toThrow("tests failed");
    expect(server.received.at(-1)?.method).toBe("DELETE");
  });

  const losses: Record<string, { script: Answer; why: string }> = {
    "the server reports that it has ended": { script: say(410, "lease_ended"), why: "ended" },
    "the server does not know it": { script: say(404, "lease_not_found"), why: "ended" },
    "its token is wrong": { script: say(403, "token_wrong"), why: "ended" },
    "no heartbeat is answered": { script: leftOpen, why: "noContact" },
    "every heartbeat is cut": { script: (_, response) => cut(response), why: "noContact" },
    "the server is shutting down": { script: say(503, "shutting_down"), why: "noContact" },
    "a proxy answers 404": {
      script: (_, response) => void response.writeHead(404).end(),
      why: "noContact",
    },
    "its lifetime is nearly over": {
      script: (_, response) =>
        reply(response, 200, {
          id: "r1",
          expiresAt: "2030-01-01T00:00:00.600Z",
          endsAt: "2030-01-01T00:00:00.300Z",
        }),
      why: "lifetime",
    },
  };
  test.each(Object.entries(losses))("aborts the work when %s", async (_, { script, why }) => {
    await using server = await scriptedServer({
      "POST /v1/leases": short,
      [heartbeats]: script,
      "DELETE /v1/leases/r1": done,
    });
    const client = new BerthClient({ url: server.url });
    const work = client.withLease(ask, ({ signal }) => untilAborted(signal));
    const loss = await work.catch((error: unknown) => error);
    expect(loss).toBeInstanceOf(LeaseLost);
    expect(loss).toMatchObject({ why });
  });

  const fails: Answer = (_, response) => cut(response);
  const patterns: Record<string, readonly Answer[]> = {
    "the first two heartbeats fail": [fails, fails, beat],
    "two heartbeats fail, one succeeds, and two more fail": [
      fails,
      fails,
      beat,
      fails,
      fails,
      beat,
    ],
  };
  test.each(Object.entries(patterns))("continues when %s", async (_, script) => {
    await using server = await scriptedServer({
      "POST /v1/leases": (_got, response) =>
        reply(response, 201, aLease({ token: "secret", ttl: "3s" })),
      [heartbeats]: inTurn(...script),
      "DELETE /v1/leases/r1": done,
    });
    const beats = () => server.received.filter(({ path }) => path.endsWith("/heartbeat")).length;
    const aborted = await new BerthClient({ url: server.url }).withLease(ask, async (lease) => {
      await server.until(() => beats() > script.length);
      return lease.signal.aborted;
    });
    expect(aborted).toBe(false);
  });

  test("continues while the server cannot write, because it cannot expire leases either", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": short,
      [heartbeats]: say(503, "journal_unavailable"),
      "DELETE /v1/leases/r1": done,
    });
    const beats = () => server.received.filter(({ path }) => path.endsWith("/heartbeat")).length;
    const aborted = await new BerthClient({ url: server.url }).withLease(ask, async (lease) => {
      await server.until(() => beats() >= 6);
      return lease.signal.aborted;
    });
    expect(aborted).toBe(false);
  });

  test("reports failed heartbeats and the recovery", async () => {
    await using server = await scriptedServer({
      "POST /v1/leases": short,
      [heartbeats]: inTurn((_, response) => cut(response), beat),
      "DELETE /v1/leases/r1": done,
    });
    const errors: string[] = [];
    const recovered = Promise.withResolvers<void>();
    const client = new BerthClient({ url: server.url });
    await client.withLease(ask, () => recovered.promise, {
      onHeartbeatFailed: (error) => errors.push(error instanceof Error ? error.name : "?"),
      onRecovered: () => recovered.resolve(),
    });
    expect(errors).toEqual(["BerthUnreachable"]);
  });
});

describe("events()", () => {
  const line = (seq: number) => `id: ${seq}\ndata: {"seq":${seq},"at":"x","type":"t"}\n\n`;

  test("resumes after the last event of the previous connection", async () => {
    const seen: (string | undefined)[] = [];
    await using server = await scriptedServer({
      "GET /v1/events": (_, response, nth) => {
        seen.push(response.req.headers["last-event-id"]?.toString());
        response.writeHead(200, { "content-type": "text/event-stream" });
        if (nth === 0) response.end(`: hello\n\n${line(1)}${line(2)}`);
        else response.write(line(3));
      },
    });
    const got: number[] = [];
    for await (const { seq } of new BerthClient({ url: server.url }).events()) {
      got.push(seq);
      if (seq === 3) break;
    }
    expect(got).toEqual([1, 2, 3]);
    expect(seen).toEqual([undefined, "2"]);
  });
});

describe("BerthClient", () => {
  test.each(["nonsense", "ftp://x", "http://user:pass@host"])("refuses the address %s", (url) => {
    expect(() => new BerthClient({ url })).toThrow(/Cannot use/);
  });

  test("keeps the path of its address, and escapes names", async () => {
    await using server = await scriptedServer({
      "GET /berth/v1/pools/a%2Fb": (_, response) => reply(response, 200, { name: "a/b" }),
    });
    const pool = await new BerthClient({ url: `${server.url}/berth/` }).pool("a/b");
    expect(pool.name).toBe("a/b");
  });
});
