/**
 * Prints the files whose code runs during one call: the files that you must read to understand it.
 * Calls a warm server once for each kind of call. A file counts if one of its functions ran.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Lease } from "../src/api/schemas.ts";
import { type Running, serve } from "../src/server/main.ts";

const root = fileURLToPath(new URL("../src/", import.meta.url));

/** Time for background work after a call, such as history, to finish. */
const quietMs = 300;

class Coverage {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /** The files under `src` that ran since the last call. */
  async take(): Promise<string[]> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    return result
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .flatMap(({ url }) => (url.startsWith("file:") ? fileURLToPath(url) : []))
      .flatMap((path) => (path.startsWith(root) ? path.slice(root.length) : []))
      .sort();
  }
}

async function post(url: string, body?: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, {
    method: "POST",
    ...(body && { headers, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`Cannot measure: ${url} answered ${response.status}`);
  return response;
}

class Calls {
  readonly #server: Running;
  readonly #config: string;
  #edits = 0;

  constructor(server: Running, config: string) {
    this.#server = server;
    this.#config = config;
  }

  async acquire(pool = "many", wait?: string): Promise<Lease> {
    const body = { holder: "reader", items: [{ pool }], ...(wait === undefined ? {} : { wait }) };
    return (await (await post(`${this.#server.url}/v1/leases`, body)).json()) as Lease;
  }

  async release({ id, token }: Lease): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${this.#server.url}/v1/leases/${id}`, { method: "DELETE", headers });
  }

  async heartbeat({ id, token }: Lease): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    const url = `${this.#server.url}/v1/leases/${id}/heartbeat`;
    await fetch(url, { method: "POST", headers });
  }

  async acquireFromBoskos(): Promise<void> {
    const query = "type=many&state=free&dest=busy&owner=reader";
    await post(`${this.#server.url}/acquire?${query}`);
  }

  /** Changes the file and reloads it at once, before the server notices the change. */
  async reload(): Promise<void> {
    this.#edits += 1;
    writeFileSync(this.#config, configText(4 + this.#edits));
    await this.#server.reload();
  }
}

function configText(ttlMinutes: number): string {
  return `pools:\n  many: { count: 1000, ttl: ${ttlMinutes}m }\n  one: { count: 1 }\n`;
}

/** Makes every call three times; the last one counts. */
async function measure(calls: Calls, coverage: Coverage): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const run = async (name: string, call: () => Promise<unknown>) => {
    await sleep(quietMs);
    await coverage.take();
    await call();
    found.set(name, await coverage.take());
  };
  for (let round = 0; round < 3; round++) {
    const lease = await calls.acquire();
    const held = await calls.acquire("one");
    const waiting = calls.acquire("one", "1m");
    await run("acquire", () => calls.acquire());
    await run("release that grants to a waiting request", async () => {
      await Promise.all([calls.release(held), waiting]);
    });
    await run("Boskos acquire", () => calls.acquireFromBoskos());
    await run("heartbeat", () => calls.heartbeat(lease));
    await run("configuration reload", () => calls.reload());
    await calls.release(await waiting);
  }
  return found;
}

function print(found: ReadonlyMap<string, string[]>): void {
  for (const [name, files] of found) {
    console.log(`${files.length} files: ${name}`);
    const folders = Map.groupBy(files, (file) => file.slice(0, file.lastIndexOf("/")));
    for (const [folder, inFolder] of folders) {
      const names = inFolder.map((file) => file.slice(folder.length + 1, -".ts".length));
      console.log(`  ${folder} (${inFolder.length}): ${names.join(", ")}`);
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "berth-files-run-"));
const config = join(folder, "berth.yaml");
writeFileSync(config, configText(4));
const coverage = new Coverage();
await coverage.start();
const server = await serve({
  config,
  data: join(folder, "data"),
  memory: false,
  listen: "127.0.0.1:0",
  insecureListen: false,
  logLevel: "error",
});
try {
  print(await measure(new Calls(server, config), coverage));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
