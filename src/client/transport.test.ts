import { expect, test } from "vitest";
import { scriptedServer } from "./scripted-server.suite.ts";
import { Transport } from "./transport.ts";

/** The number of signals that `AbortSignal.any` has made from this signal. */
function followers(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === "kDependantSignals",
  );
  const found: unknown = key && Reflect.get(signal, key);
  return typeof found === "object" && found !== null ? Number(Reflect.get(found, "size")) : 0;
}

test("Transport leaves no references on a long-lived signal", async () => {
  await using server = await scriptedServer({
    "GET /v1/pools": (_, response) => void response.end("{}"),
  });
  const { signal } = new AbortController();
  const transport = new Transport(server.url, fetch);
  for (let calls = 0; calls < 3; calls++) {
    await transport.send({ method: "GET", path: ["v1", "pools"], signal });
  }
  expect(followers(signal)).toBe(0);
  AbortSignal.any([signal]).addEventListener("abort", () => {});
  expect(followers(signal)).toBe(1); // Proves that `followers` still works in this Node version.
});

test("Transport reports that a port without TLS needs http://", async () => {
  await using server = await scriptedServer({});
  const transport = new Transport(server.url.replace("http:", "https:"), fetch);
  await expect(transport.send({ method: "GET", path: ["v1", "pools"] })).rejects.toThrow(
    /^Cannot reach the server at https:.*: the port does not speak TLS; use http:\/\/ instead of https:\/\/$/,
  );
});

test("Transport waits and tries again when it has sent too many calls", async () => {
  const problem = { type: "x", title: "x", status: 429, detail: "too many", hint: "wait" };
  await using server = await scriptedServer({
    "GET /v1/pools": (_, response, nth) => {
      if (nth === 1) return void response.end('{"items":[]}');
      response.writeHead(429, { "content-type": "application/problem+json", "retry-after": "0" });
      response.end(JSON.stringify({ ...problem, code: "too_many_requests" }));
    },
    "GET /v1/leases": (_, response) => {
      response.writeHead(429, { "content-type": "application/problem+json", "retry-after": "60" });
      response.end(JSON.stringify({ ...problem, code: "too_many_requests" }));
    },
  });
  const transport = new Transport(server.url, fetch);
  const reply = await transport.send({ method: "GET", path: ["v1", "pools"] });
  expect(reply.body).toEqual({ items: [] });
  const long = transport.send({ method: "GET", path: ["v1", "leases"] });
  await expect(long).rejects.toMatchObject({ code: "too_many_requests" });
  expect(server.received).toHaveLength(3);
});
