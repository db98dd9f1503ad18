/** The server as a process: how it ends when it must, and when others would keep it from ending. */
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { berthPath, Process } from "./cli-processes.ts";

let folder: string;
let server: Process;
let url: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-process-"));
  await writeFile(join(folder, "berth.yaml"), "pools: { aws: { count: 2 } }");
  const config = ["--config", join(folder, "berth.yaml"), "--data", join(folder, "data")];
  server = new Process(berthPath, ["serve", ...config, "--listen", "127.0.0.1:0"], process.env);
  [, url = ""] = await server.says(/ at (http:[^\s"]+)/);
});

afterEach(async () => {
  if (server.child.exitCode === null) server.signal("SIGKILL");
  await server.ended;
  await rm(folder, { recursive: true });
});

function ask(): Promise<Response> {
  const body = JSON.stringify({ holder: "job", items: [{ pool: "aws" }] });
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/v1/leases`, { method: "POST", headers, body });
}

test("serve exits with 69 if another process has written to its journal", async () => {
  const database = new DatabaseSync(join(folder, "data", "journal.db"));
  database.exec(`
    INSERT INTO journal (seq, at, count, events)
    SELECT max(seq + count), 1, 1, '[{"type":"pool-removed","pool":"gcp"}]' FROM journal`);
  database.close();
  const answer = await ask().catch(() => undefined);
  expect(answer?.status ?? 503).toBe(503);
  expect(await server.ended).toBe(69);
  expect(server.stderr).toContain("Restart the server");
});

test("serve exits on SIGTERM although a client keeps an idle connection open", async () => {
  const silent = connect(Number(new URL(url).port), "127.0.0.1");
  silent.on("error", () => {});
  await new Promise((resolve) => silent.once("connect", resolve));
  silent.write("POST /v1/leases HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  expect((await ask()).status).toBe(201);
  server.signal("SIGTERM");
  expect(await server.ended).toBe(0);
  silent.destroy();
});

test("serve acknowledges nothing after its data folder was deleted", async () => {
  expect((await ask()).status).toBe(201);
  rmSync(join(folder, "data"), { recursive: true });
  await new Promise((resolve) => setTimeout(resolve, 1_100)); // It looks once a second.
  expect((await ask()).status).toBe(503);
});

test("serve and slots report that a credential plugin failed, without its arguments", async () => {
  const args = ["-c", "exit 1", "--client-secret=hunter2"];
  const kubeconfig = join(folder, "kubeconfig");
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:9" } }],
    users: [{ name: "u", user: { exec: { command: "bash", args } } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const pools = { aws: { count: 2 } };
  const mirror = { namespace: "berth", kubeconfig };
  await writeFile(join(folder, "berth.yaml"), JSON.stringify({ pools, mirror }));
  const status = ["slots", "status", "--kubeconfig", kubeconfig];
  const slots = new Process(berthPath, status, process.env);
  expect(await slots.ended).toBe(69);
  await server.says(/mirror in Kubernetes failed.*\n/);
  for (const { all } of [server, slots]) {
    expect(all).toContain("bash of the kubeconfig ended with 1");
    expect(all).not.toContain("hunter2");
  }
});

test("run continues with its command when its output is closed", async () => {
  const command = ["sh", "-c", "sleep 0.3; exit 5"];
  const run = new Process(berthPath, ["run", "--pool", "aws", "--", ...command], {
    ...process.env,
    BERTH_URL: url,
  });
  await run.says(/Acquired 1 lease/);
  run.child.stderr?.destroy();
  expect(await run.ended).toBe(5);
  const { items } = (await (await fetch(`${url}/v1/leases`)).json()) as { items: unknown[] };
  expect(items).toEqual([]);
});
