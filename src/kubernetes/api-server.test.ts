import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
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

/** Connects as a user whose token comes from a script of bash. */
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

/** Notes its number, once it is there, and does nothing for an hour, in the same process. */
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
    return false; // It had gone by itself.
  }
}

describe("a call for which a token is fetched by a program that hangs", () => {
  test("is given up after the time for an answer, and so is the program", async () => {
    const api = await connect(hangs);
    // On a slow machine it may not even have begun.
    for (let answerMs = 500; !existsSync(join(folder, "pid")); answerMs *= 2) {
      const call = api.call({ path, answerMs });
      await expect(call).rejects.toThrow(ApiUnreachable);
      await expect(call).rejects.toThrow("no answer within");
    }
    await isGone(await pidOf());
  });

  test("is given up when the signal aborts, and so is the program", async () => {
    const api = await connect(hangs);
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [api.call({ path, signal }), api.open({ path, signal })];
    const pid = await pidOf();
    stop.abort(new Error("enough"));
    for (const call of calls) await expect(call).rejects.toThrow("enough");
    await isGone(pid);
  });

  test("ends one that does not listen, and leaves alone what it has started", async () => {
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

  test.each([1, 2])("listens no longer to what it has left behind (%i)", async (stream) => {
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
  });
});

describe("a token that a program prints", () => {
  const prints = (more = "") => `echo "$1" >> runs
    echo '{"status":{"token":"'$MY_TOKEN-$(wc -l < runs)'"${more}}}'`;

  /** Takes any token but those it is told not to, and says which came, once it may. */
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

  test("is sent, and asked for once however many calls there are", async () => {
    const api = await apiWith(prints());
    const calls = await Promise.all([api.call({ path }), api.call({ path })]);
    expect([...calls, await api.call({ path })]).toEqual(
      Array(3).fill({ token: "Bearer s3cret-1" }),
    );
    expect(readFileSync(join(folder, "runs"), "utf8")).toBe("one\n");
  });

  test("comes to those who still wait when others have given up", async () => {
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

  test("is asked for again once it is no longer good, or the server refuses it", async () => {
    const past = ',"expirationTimestamp":"2020-01-01T00:00:00Z"';
    const lapsing = await apiWith(prints(past));
    await lapsing.call({ path });
    expect(await lapsing.call({ path })).toEqual({ token: "Bearer s3cret-2" });
    rmSync(join(folder, "runs"));
    const picky = await apiWith(prints(), ["Bearer s3cret-1"]);
    await expect(picky.call({ path })).rejects.toThrow("401");
    expect(await picky.call({ path })).toEqual({ token: "Bearer s3cret-2" });
  });

  test("is kept when one that came before it is refused late", async () => {
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
  ])("is missed in words: %s", async (script, words) => {
    await expect((await connect(script)).call({ path })).rejects.toThrow(words);
  });

  test("is missed in a few words, however much its program says", async () => {
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
  ])("is missed without its program's arguments where that %s", async (_, command, args, words) => {
    const error = await whyNot(await connectWith({ command, args }));
    expect(error.message).toContain(words);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
  });

  async function whyNot(api: ApiServer): Promise<Error> {
    const error = await api.call({ path }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiUnreachable);
    return error as Error;
  }
});
