import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ApiServer } from "./api-server.ts";
import { ApiUnreachable } from "./errors.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-api-server-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Of a user whose token comes from a program. */
function configWith(command: string): string {
  const path = join(folder, "config");
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command, interactiveMode: "Never" };
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:9" } }],
    users: [{ name: "u", user: { exec } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

describe("a call for which a token is fetched by a program that hangs", () => {
  // It waits for input that never comes, and ends with this process.
  const connect = () => ApiServer.connect({ kubeconfig: configWith("cat") });

  test("is given up after the time for an answer", async () => {
    const api = await connect();
    const call = api.call({ path: ["version"], answerMs: 1 });
    await expect(call).rejects.toThrow(ApiUnreachable);
    await expect(call).rejects.toThrow("no answer within");
  });

  test("is given up when the signal aborts", async () => {
    const api = await connect();
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [
      api.call({ path: ["version"], signal }),
      api.open({ path: ["version"], signal }),
    ];
    stop.abort(new Error("enough"));
    for (const call of calls) await expect(call).rejects.toThrow("enough");
  });
});
