/** Most tests run commands in their own process. Here each one runs as `bin/berth` too. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands } from "../src/cli/commands.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { canRunInProcess, type Finished } from "./cli-in-process.ts";
import { finished, TestServer } from "./cli-processes.ts";

let server: TestServer;
beforeAll(async () => {
  const adaptive = { min: 0.5, max: 60 };
  const paced = { count: 9, pace: { every: "1s" }, adaptive };
  const account = { members: ["acc-1", "acc-2"] };
  server = await TestServer.start({ account, paced, plenty: { count: 9 } });
});
afterAll(() => server[Symbol.asyncDispose]());

/** A lease for each run, so that the second run finds what the first one found. */
async function proof(): Promise<NodeJS.ProcessEnv> {
  const client = new BerthClient({ url: server.url });
  const lease = await client.acquire({ items: [{ pool: "plenty" }], holder: "job/1" });
  return { BERTH_LEASE_ID: lease.id, BERTH_TOKEN: lease.token };
}

/** Ids and times differ from run to run. */
const withoutChanges = ({ code, stdout, stderr }: Finished) =>
  [String(code), stdout, stderr].map((text) =>
    text
      .replace(/\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, "TIME")
      .replace(/\b[0-9a-z]{16}\b/g, "ID"),
  );

const lines: Readonly<Record<string, readonly string[]>> = {
  acquire: ["--pool", "plenty", "--holder", "job/2", "-o", "name"],
  heartbeat: [],
  release: [],
  refresh: ["-o", "name"],
  signal: ["throttled", "--pool", "paced"],
  status: ["-o", "name"],
  pools: ["account"],
  "show-pools": [],
  leases: ["nobody"],
  queue: [],
  resources: ["-o", "name"],
  explain: ["nobody"],
  history: ["--how", "expired"],
  stats: ["--pool", "nothing"],
  drain: ["acc-2", "--reason", "test"],
  undrain: ["acc-2"],
  free: ["acc-2"],
  pin: ["paced", "30", "--reason", "test"],
  unpin: ["paced"],
  simulate: ["--set", "account"],
  config: ["check", "nowhere.yaml"],
  completion: ["bash"],
  version: [],
  whoami: [],
};

test("every command that tests run in process is tested here", () => {
  const names = commands.map(({ name }) => name).filter((name) => canRunInProcess([name], {}));
  expect(Object.keys(lines).sort()).toEqual(names.sort());
});

test.each(Object.entries(lines))("berth %s prints the same as a process", async (name, rest) => {
  const needsLease = ["heartbeat", "release", "refresh"].includes(name);
  const env = async () => (needsLease ? await proof() : {});
  const asProcess = await finished(server.berth([name, ...rest], await env()));
  const inProcess = await server.inProcess([name, ...rest], await env());
  expect(withoutChanges(inProcess)).toEqual(withoutChanges(asProcess));
  expect(asProcess.all).not.toBe("");
});

test("berth slots manifests prints the same as a process", async () => {
  const line = ["slots", "manifests", "-n", "ci", "--slots", "2"];
  const { code, stdout } = await finished(server.berth(line));
  expect(await server.inProcess(line)).toMatchObject({ code, stdout });
  expect(stdout).toContain("namespace: ci");
});

test("a process finds the file that it is given", async () => {
  const file = join(server.folder, "berth.yaml");
  const { code, stdout } = await finished(server.berth(["config", "check", file]));
  expect([code, stdout]).toEqual([0, expect.stringContaining("is good: 3 pools, 20 resources")]);
});
