import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ApiServer } from "./api-server.ts";
import { ApiUnreachable } from "./errors.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-api-server-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Connects as a user whose token comes from a bash script. */
function connect(script: string, server?: string): Promise<ApiServer> {
  const command = join(folder, "plugin");
  writeFileSync(command, `#!/bin/bash\ncd ${folder}\n${script}\n`);
  chmodSync(command, 0o755);
  return connectWith({ command, args: ["one"] }, server);
}

function connectWith(
  program: { readonly command: string; readonly args: readonly string[] },
  server = "http://127.0.0.1:9",
): Promise<ApiServer> {
  const env = [{ name: "MY_TOKEN", value: "s3cret" }];
  const exec = { apiVersion: "client.authentication.k8s.io/v1", env, ...program };
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { exec: { ...exec, interactiveMode: "Never" } } }],
  };
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, JSON.stringify(config));
  return ApiServer.connect({ kubeconfig });
}

const path = ["version"];

/** Writes its process id to a file, then sleeps for an hour in the same process. */
const hangs = "echo $$ > pid.new; mv pid.new pid; exec sleep 3600";

async function isThere(name: string): Promise<void> {
  while (!existsSync(join(folder, name))) await pause(10);
}

async function pidOf(name = "pid"): Promise<number> {
  await isThere(name);
  return Number(readFileSync(join(folder, name), "utf8"));
}

async function isGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await pause(10);
  }
}

function killed(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false; // The process has exited by itself.
  }
}

test("a call does not follow a redirect to another server", async () => {
  const paths: string[] = [];
  const serve = async (answer: (path: string) => { status: number; location?: string }) => {
    const server = createServer((request, response) => {
      const { status, ...headers } = answer(request.url ?? "");
      response.writeHead(status, headers).end("{}");
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const other = await serve((at) => {
    paths.push(at);
    return { status: 200 };
  });
  const url = await serve((at) => {
    if (at === "/here") return { status: 200 };
    return { status: 307, location: at === "/version" ? `${other}/stolen` : "/here" };
  });
  const token = `echo '{"status":{"token":"t"}}'`;
  const api = await connect(token, url);
  const call = api.call({ method: "POST", path, body: { token: "of a caller" } });
  await expect(call).rejects.toThrow(`it redirects to another server, ${other}`);
  expect(paths).toEqual([]);
  expect(await api.call({ path: ["moved"] })).toEqual({});
});

describe("a call whose credential plugin hangs", () => {
  test("fails after the time for an answer, and the plugin is killed", async () => {
    const api = await connect(hangs);
    // On a slow machine the plugin may not have started yet.
    for (let answerMs = 500; !existsSync(join(folder, "pid")); answerMs *= 2) {
      const call = api.call({ path, answerMs });
      await expect(call).rejects.toThrow(ApiUnreachable);
      await expect(call).rejects.toThrow("no answer within");
    }
    await isGone(await pidOf());
  });

  test("fails when it is aborted, and the plugin is killed", async () => {
    const api = await connect(hangs);
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [api.call({ path, signal }), api.open({ path, signal })];
    const pid = await pidOf();
    stop.abort(new Error("enough"));
    for (const call of calls) await expect(call).rejects.toThrow("enough");
    await isGone(pid);
  });

  test("kills a plugin that ignores SIGTERM, but not the processes that it started", async () => {
    const api = await connect(
      `trap "" TERM; (trap - TERM; sleep 3600) & echo $! > child; ${hangs}`,
    );
    const stop = new AbortController();
    const call = api.call({ path, signal: stop.signal });
    const pid = await pidOf();
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await isGone(pid);
    const child = await pidOf("child");
    expect(process.kill(child, 0)).toBe(true);
    process.kill(child, "SIGKILL");
  });

  test.each([1, 2])(
    "does not wait for output of a process that the plugin left behind (%i)",
    async (stream) => {
      const left = `trap "" PIPE; while echo; do sleep 0.02; done >&${stream}; touch closed`;
      const api = await connect(`(${left}) & echo $! > child; echo $$ > pid.new; mv pid.new pid`);
      const stop = new AbortController();
      const call = api.call({ path, signal: stop.signal });
      await isGone(await pidOf());
      const child = await pidOf("child");
      onTestFinished(() => void killed(child));
      stop.abort(new Error("enough"));
      await expect(call).rejects.toThrow("enough");
      await isThere("closed");
    },
  );
});

describe("a token that a credential plugin prints", () => {
  const prints = (more = "") => `echo "$1" >> runs
    echo '{"status":{"token":"'$MY_TOKEN-$(wc -l < runs)'"${more}}}'`;

  /** Accepts every token except the given ones, and reports the accepted token once it may. */
  async function apiWith(
    script: string,
    refused: readonly string[] = [],
    may: (url: string, answer: () => void) => void = (_, answer) => answer(),
  ) {
    const server = createServer((request, response) => {
      const token = request.headers.authorization ?? "";
      response.statusCode = refused.includes(token) ? 401 : 200;
      may(request.url ?? "", () => response.end(JSON.stringify({ token })));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    const { port } = server.address() as AddressInfo;
    return connect(script, `http://127.0.0.1:${port}`);
  }

  test("is sent, and read once for any number of calls", async () => {
    const api = await apiWith(prints());
    const calls = await Promise.all([api.call({ path }), api.call({ path })]);
    expect([...calls, await api.call({ path })]).toEqual(
      Array(3).fill({ token: "Bearer s3cret-1" }),
    );
    expect(readFileSync(join(folder, "runs"), "utf8")).toBe("one\n");
  });

  test("reaches the calls that still wait when others were aborted", async () => {
    const waits = "echo $$ > pid.new; mv pid.new pid; until [ -e go ]; do sleep 0.02; done;";
    const api = await apiWith(`${waits}${prints()}`);
    const stop = new AbortController();
    const first = api.call({ path, signal: stop.signal });
    const second = api.call({ path });
    await pidOf();
    stop.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    writeFileSync(join(folder, "go"), "");
    expect(await second).toEqual({ token: "Bearer s3cret-1" });
  });

  test("is read again when it has expired or the server rejects it", async () => {
    const past = ',"expirationTimestamp":"2020-01-01T00:00:00Z"';
    const lapsing = await apiWith(prints(past));
    await lapsing.call({ path });
    expect(await lapsing.call({ path })).toEqual({ token: "Bearer s3cret-2" });
    rmSync(join(folder, "runs"));
    const picky = await apiWith(prints(), ["Bearer s3cret-1"]);
    await expect(picky.call({ path })).rejects.toThrow("401");
    expect(await picky.call({ path })).toEqual({ token: "Bearer s3cret-2" });
  });

  test("stays valid when an older token is rejected late", async () => {
    const late = Promise.withResolvers<() => void>();
    const api = await apiWith(prints(), ["Bearer s3cret-1"], (url, answer) => {
      if (url === "/late") late.resolve(answer);
      else answer();
    });
    const old = api.call({ path: ["late"] });
    const answerOld = await late.promise;
    await expect(api.call({ path })).rejects.toThrow("401");
    expect(await api.call({ path })).toEqual({ token: "Bearer s3cret-2" });
    answerOld();
    await expect(old).rejects.toThrow("401");
    expect(await api.call({ path })).toEqual({ token: "Bearer s3cret-2" });
  });

  test.each([
    ["echo no account >&2; exit 1", "no account"],
    ["echo not JSON", "plugin of the kubeconfig printed no credential"],
    ["echo {}", "plugin of the kubeconfig printed no credential"],
    ["exit 3", "plugin of the kubeconfig ended with 3"],
    ["kill -9 $$", "plugin of the kubeconfig ended with SIGKILL"],
    ["head -c 2000000 /dev/zero", "plugin of the kubeconfig printed too much"],
  ])("is missing, with a readable error: %s", async (script, words) => {
    await expect((await connect(script)).call({ path })).rejects.toThrow(words);
  });

  test("is missing, with a short error, however much the plugin prints", async () => {
    const lines = await whyNot(await connect("(echo; seq 1000) >&2; exit 1"));
    expect(lines.message).toMatch(/: 1$/);
    const line = await whyNot(await connect("seq -s, 1000 >&2; exit 1"));
    expect(line.message).toMatch(/: 1,2,3,[\d,]{294}…$/);
  });

  const secret = "--client-secret=hunter2";
  test.each([
    ["fails", "bash", ["-c", "exit 1", secret], "bash of the kubeconfig ended with 1"],
    ["prints nothing", "true", [secret], "true of the kubeconfig printed no credential"],
    ["is not there", "/no/such", [secret], "/no/such of the kubeconfig cannot be started (ENOENT)"],
    ["is no program", "/etc", [secret], "/etc of the kubeconfig cannot be started (EACCES)"],
    [
      "cannot be told",
      "true",
      [`${secret}\0`],
      "true of the kubeconfig cannot be started (ERR_INVALID_ARG_VALUE)",
    ],
    [
      "is told too much",
      "true",
      [secret.repeat(20_000)],
      "true of the kubeconfig cannot be started (E2BIG)",
    ],
  ])(
    "is missing, without the arguments of the plugin in the error, if it %s",
    async (_, command, args, words) => {
      const error = await whyNot(await connectWith({ command, args }));
      expect(error.message).toContain(words);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
    },
  );

  async function whyNot(api: ApiServer): Promise<Error> {
    const error = await api.call({ path }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiUnreachable);
    return error as Error;
  }
});

/** Self-signed for 127.0.0.1, until 2126. Nothing but this test uses it. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQge4uMeFYLHr2LNYiV
lsoIbAqhza6cl+2Fh5Jp5nJS5zyhRANCAAQgtKNSfp5BAxQQFlx0wZU1VEx6x0mW
yE1u4oku9QtPy1sMpQ6GtaC7T4gXpGjFGd+m/TIJPNKMdntSTCQA+HcO
-----END PRIVATE KEY-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUF6ifffumF3LVHYO6OUs3jBnXpUAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTExNjE4NTA1MVoYDzIxMjYxMDIz
MTg1MDUxWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQgtKNSfp5BAxQQFlx0wZU1VEx6x0mWyE1u4oku9QtPy1sMpQ6GtaC7
T4gXpGjFGd+m/TIJPNKMdntSTCQA+HcOo1MwUTAdBgNVHQ4EFgQUj0Jwo1h8ontT
L7IFi065sjWh+dYwHwYDVR0jBBgwFoAUj0Jwo1h8ontTL7IFi065sjWh+dYwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAEcB52r8p7icOqmcrMwgLd
2JOMTfF9YiT8DY8y8ZX0rQIhAPYasnlMzRdys6nqBzgBz4tETn8XyLl53iuiROCw
9cbC
-----END CERTIFICATE-----`;

test("calls and watches use HTTP/1.1, also if the server can do more", async () => {
  const versions: string[] = [];
  const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    versions.push(`${request.httpVersion} ${request.url}`);
    response.setHeader("content-type", "application/json");
    if (request.url === "/watch") response.write("{}\n");
    else response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const api = await connect('echo \'{"status":{"token":"t"}}\'', `https://127.0.0.1:${port}`);
  await api.call({ path });
  const stop = new AbortController();
  await api.open({ path: ["watch"], signal: stop.signal });
  stop.abort(new Error("enough"));
  expect(versions).toEqual(["1.1 /version", "1.1 /watch"]);
});

test("an answer that never ends is given up before it fills the memory", async () => {
  let isClosed = false;
  const server = createServer((_, reply) => {
    const more = () => void (reply.destroyed || reply.write(block, (error) => error ?? more()));
    reply.on("close", () => {
      isClosed = true;
    });
    more();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const token = '{"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}}';
  const api = await connect(`echo '${token}'`, `http://127.0.0.1:${port}`);
  const call = api.call({ path, answerMs: 120_000 });
  await expect(call).rejects.toThrow("the answer has more than 67108864 bytes");
  await expect.poll(() => isClosed, { timeout: 30_000 }).toBe(true);
}, 150_000);

const block = Buffer.alloc(1024 * 1024, "x");
