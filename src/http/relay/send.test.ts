import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { Sender } from "./send.ts";

/** A server that answers with what it has got, and a sender to it. */
async function pair() {
  const got: string[] = [];
  const server = createServer((call, reply) => {
    void text(call).then((body) => {
      got.push(`${call.method} ${call.url} ${body}`);
      reply.end(call.url);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sender = new Sender();
  onTestFinished(() => {
    sender.close();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = async (method: string, url: string, body = "") => {
    const call = { method, url, headers: {}, body: Buffer.from(body) };
    return text(await sender.send(address, call, AbortSignal.timeout(30_000)));
  };
  return { got, send };
}

test.each(["GET", "DELETE", "OPTIONS", "POST", "PUT"])(
  "the body of a %s never becomes the beginning of the next call",
  async (method) => {
    const { got, send } = await pair();
    const body = "POST /smuggled HTTP/1.1\r\nHost: berth\r\nContent-Length: 300\r\n\r\n";
    expect(await send(method, "/first", body)).toBe("/first");
    expect(await send("GET", "/next")).toBe("/next");
    expect(got).toEqual([`${method} /first ${body}`, "GET /next "]);
  },
);

test.each(["/v1/leases?holder=o'brien", '/v1/leases?holder="a"', "/a/../b", "/a/%2e%2e/b", "//a"])(
  "the path %s arrives as it was sent",
  async (path) => {
    const { send } = await pair();
    expect(await send("GET", path)).toBe(path);
  },
);
