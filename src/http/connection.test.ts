import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { abortOnClose } from "./request.ts";

const server = createServer();
let asker: Socket;
let response: ServerResponse;

beforeEach(async () => {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  asker = connect((server.address() as AddressInfo).port, "127.0.0.1");
  asker.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  [, response] = await once(server, "request");
});

afterEach(() => {
  asker.destroy();
  server.close();
});

describe("abortOnClose()", () => {
  test("aborts when the one who asked goes", async () => {
    const signal = abortOnClose(response);
    expect(signal.aborted).toBe(false);
    asker.destroy();
    await once(signal, "abort");
  });

  test("is aborted from the beginning if the one who asked has gone", async () => {
    asker.destroy();
    await once(response, "close");
    expect(abortOnClose(response).aborted).toBe(true);
  });

  test("is not aborted by an answer", async () => {
    const signal = abortOnClose(response);
    response.end("done");
    await once(response, "close");
    expect(signal.aborted).toBe(false);
    expect(abortOnClose(response).aborted).toBe(false);
  });
});
