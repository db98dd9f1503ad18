/** Runs the whole server in this process, with a real port and a real disk. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { until } from "../broker/hand-clock.suite.ts";
import { type Running, type ServeOptions, serve } from "./main.ts";

interface Place extends AsyncDisposable {
  readonly folder: string;
  start(more?: Partial<ServeOptions>): Promise<Running>;
}

async function place(config = "pools: { aws: { count: 1, lockDelay: 0s } }"): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "berth-serve-"));
  const file = join(folder, "berth.yaml");
  await writeFile(file, config);
  const running: Running[] = [];
  return {
    folder,
    async start(more) {
      const server = await serve({
        config: file,
        data: join(folder, "data"),
        memory: false,
        listen: "127.0.0.1:0",
        insecureListen: false,
        logLevel: "silent",
        ...more,
      });
      running.push(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(running.map((server) => server.stop()));
      await rm(folder, { recursive: true });
    },
  };
}

async function ask({ url }: Running, more: object = {}) {
  const response = await fetch(`${url}/v1/leases`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ items: [{ pool: "aws" }], holder: "a job", ...more }),
  });
  const body = (await response.json()) as { id: string; token: string };
  return { status: response.status, ...body };
}

const isAnswered = () => true;
const isRefused = () => false;

const metric = async ({ url }: Running, name: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
};

describe("serve()", () => {
  test("grants the resources in the file, and keeps leases over a restart", async () => {
    await using here = await place();
    const first = await here.start();
    expect(first).toMatchObject({
      pools: 1,
      resources: 1,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    });
    const lease = await ask(first, { requestId: "k" });
    expect(lease.status).toBe(201);
    await first.stop();
    await first.stopped;

    const second = await here.start();
    expect(await ask(second, { requestId: "k" })).toMatchObject({
      id: lease.id,
      token: lease.token,
    });
    const headers = { authorization: `Bearer ${lease.token}` };
    const beat = await fetch(`${second.url}/v1/leases/${lease.id}/heartbeat`, {
      method: "POST",
      headers,
    });
    expect(beat.status).toBe(200);
  });

  test("wakes a long poll with the real clock and a real disk", async () => {
    await using here = await place();
    const server = await here.start();
    const { id, token } = await ask(server);
    const next = ask(server, { wait: "1h" });
    while ((await metric(server, "berth_open_waits")) !== 1);
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${server.url}/v1/leases/${id}`, { method: "DELETE", headers });
    expect(await next).toMatchObject({ status: 201 });
  });

  test("expires leases by the real clock", async () => {
    await using here = await place();
    const server = await here.start({ memory: true });
    await ask(server, { ttl: "1s" });
    expect(await ask(server, { wait: "1h" })).toMatchObject({ status: 201 });
  });

  test("stops at once with an open long poll, an event stream and an idle connection", async () => {
    await using here = await place();
    const server = await here.start();
    await ask(server);
    const waiting = ask(server, { wait: "1h", requestId: "k" });
    const feed = await fetch(`${server.url}/v1/events`);
    const read = feed.text();
    while ((await metric(server, "berth_open_waits")) !== 1);
    await server.stop();
    await server.stopped;
    expect([202, 503]).toContain((await waiting).status);
    await read;
  });

  test("closes connections that have sent nothing, and still answers a request that is on its way", async () => {
    await using here = await place();
    const server = await here.start();
    const port = Number(new URL(server.url).port);
    const half = connect(port, "127.0.0.1");
    half.write("GET /v1/pools HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    const silent = connect(port, "127.0.0.1").resume();
    await once(silent, "connect");
    await ask(server); // By now the server knows both.
    const closed = once(silent, "close");
    const stopping = server.stop();
    await closed;
    half.write("\r\n");
    expect(await text(half)).toContain("Cannot answer: the server is stopping");
    await stopping;
  });

  test.each([
    ["GET /v1/pools", "application/problem+json"],
    ["GET /v1/no-such-call", "application/problem+json"],
    ["POST /acquire?type=aws&state=free&dest=busy&owner=a", "text/plain"],
    ["POST /lease/acquire", "text/plain"],
  ])(
    "while it stops, refuses %s that was on its way, and says that nothing was changed",
    async (call, type) => {
      await using here = await place();
      const server = await here.start();
      const { port } = new URL(server.url);
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(`${call} HTTP/1.1\r\nHost: 127.0.0.1\r\n`);
      await ask(server); // By now the server has read the first half.
      const stopping = server.stop();
      while (await fetch(server.url).then(isAnswered, isRefused));
      socket.write("\r\n");
      const [head, body] = (await text(socket)).split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1.1 503 .*\r\nconnection: close\r\n.*retry-after: 1\r\n/is);
      expect(head).toContain("berth-not-leader: true");
      expect(head).toContain(`content-type: ${type}`);
      expect(body).toContain("Cannot answer: the server is stopping");
      expect(type === "text/plain" || JSON.parse(body ?? "").code === "shutting_down").toBe(true);
      await stopping;
    },
  );

  test("applies a new file with reload()", async () => {
    await using here = await place();
    const server = await here.start({ memory: true });
    await writeFile(join(here.folder, "berth.yaml"), "pools: { aws: { count: 5 } }");
    await server.reload();
    const status = await (await fetch(`${server.url}/v1/config`)).json();
    expect(status).toMatchObject({ ok: true, resources: 5 });
  });

  test("serves the example if there is no file", async () => {
    await using here = await place();
    const { config: _, ...rest } = { config: "", data: here.folder, listen: "127.0.0.1:0" };
    const server = await serve({
      ...rest,
      memory: true,
      insecureListen: false,
      logLevel: "silent",
    });
    expect(server.pools).toBeGreaterThan(1);
    await server.stop();
  });
});

describe("serve() does not start", () => {
  test("with an invalid file", async () => {
    await using here = await place("pools: [");
    await expect(here.start()).rejects.toMatchObject({ name: "CannotServe", exitCode: 78 });
  });

  test("on an address that others can reach", async () => {
    await using here = await place();
    await expect(here.start({ listen: "0.0.0.0:0" })).rejects.toMatchObject({
      name: "CannotServe",
      exitCode: 64,
    });
  });

  test("on a port that is in use, and unlocks its data folder", async () => {
    await using here = await place();
    const other = createServer().listen(0, "127.0.0.1");
    await until(() => other.listening);
    const { port } = other.address() as { port: number };
    await expect(here.start({ listen: `127.0.0.1:${port}` })).rejects.toMatchObject({
      name: "CannotServe",
      exitCode: 69,
      message: `Cannot listen on 127.0.0.1:${port}: something else listens there`,
    });
    other.close();
    await here.start();
  });

  test("in a folder that another server uses", async () => {
    await using here = await place();
    await here.start();
    await expect(here.start()).rejects.toMatchObject({
      name: "CannotServe",
      exitCode: 69,
      hint: expect.any(String),
    });
  });
});

describe("serve() with further listeners", () => {
  const text = async (url: string) => {
    const response = await fetch(url);
    return [response.status, await response.text()];
  };

  test("answers only health and metrics on separate ports", async () => {
    await using here = await place();
    const listen = { healthListen: "127.0.0.1:0", metricsListen: "127.0.0.1:0" };
    const { url, healthUrl, metricsUrl, stop } = await here.start(listen);
    expect(await text(`${healthUrl}/healthz`)).toEqual([200, "OK"]);
    expect(await text(`${healthUrl}/healthz/ready?verbose`)).toEqual([200, "OK"]);
    expect(await text(`${healthUrl}/metrics`)).toEqual([404, "404 page not found\n"]);
    expect(await text(`${metricsUrl}/metrics`)).toEqual([
      200,
      expect.stringContaining("berth_resources"),
    ]);
    expect(await text(`${metricsUrl}/v1/pools`)).toEqual([404, "404 page not found\n"]);
    expect((await text(`${url}/healthz`))[0]).toBe(200);
    await stop();
    await expect(fetch(`${healthUrl}/healthz`)).rejects.toThrow("fetch failed");
    await expect(fetch(`${metricsUrl}/metrics`)).rejects.toThrow("fetch failed");
  });

  test("has no separate ports by default", async () => {
    await using here = await place();
    const running = await here.start();
    expect(running).not.toHaveProperty("healthUrl");
    expect(running).not.toHaveProperty("metricsUrl");
  });

  test.each(["healthListen", "metricsListen"] as const)(
    "does not start with a %s that others can reach or that is in use",
    async (option) => {
      await using here = await place();
      await expect(here.start({ [option]: "0.0.0.0:0" })).rejects.toMatchObject({ exitCode: 64 });
      const other = createServer().listen(0, "127.0.0.1");
      await until(() => other.listening);
      const { port } = other.address() as { port: number };
      await expect(here.start({ [option]: `127.0.0.1:${port}` })).rejects.toMatchObject({
        exitCode: 69,
        message: `Cannot listen on 127.0.0.1:${port}: something else listens there`,
        hint: `Choose another with --${option.replace("L", "-l")} HOST:PORT`,
      });
      other.close();
      await here.start();
    },
  );
});
