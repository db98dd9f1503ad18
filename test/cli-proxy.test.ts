import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

const pools = {
  slice: { members: ["slice-1"], lockDelay: "0s" },
  slot: { members: ["slot-1", "slot-2"], lockDelay: "0s" },
  single: { members: ["only-1"], lockDelay: "0s" },
};
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start(pools);
});
afterAll(() => server[Symbol.asyncDispose]());

const bash = (script: string, ...options: string[]) => [
  ...["run", ...options, "--name", "t", "--"],
  ...["bash", "--norc", "-euo", "pipefail", "-c", `source "$LEASE_PROXY_CLIENT_SH"\n${script}`],
];

describe("berth run --proxy", () => {
  test("serves the lease calls of steps, and releases what they leave behind", async () => {
    const run = await server.done(
      bash(
        `handle=$(lease__acquire --type=slot --count=2); cat "$handle"; echo
         lease__release --names=slot-1; echo "$SHARED_DIR"; exit 7`,
        "--proxy",
      ),
    );
    expect(run.code).toBe(7);
    const [first, second, released, shared = ""] = run.stdout.split("\n");
    expect([first, second, released]).toEqual(["slot-1", "slot-2", "slot-1 released"]);
    expect(existsSync(shared)).toBe(false);
    expect(run.stderr.split("\n")).toEqual([
      "Acquiring 2 lease(s) for slot",
      "Acquired 2 lease(s) for slot: [slot-1 slot-2]",
      "Releasing lease for slot: slot-1",
      "Releasing the leases of the job: [slot-2]",
      "",
    ]);
    expect(await server.json("leases")).toEqual([]);
  });

  test("holds its own lease too, which the proxy does not release", async () => {
    const run = await server.done(
      bash(
        `lease__acquire --type=slot --scope=step >/dev/null
         lease__release --names="$BERTH_RESOURCE_SLICE"
         curl -sf "$BERTH_URL/v1/leases" | grep -o '"resource":"[^"]*"'`,
        ...["--proxy", "--pool", "slice", "--holder", "me"],
      ),
    );
    expect(run.stderr).toContain("Acquired 1 lease(s) for slice: [slice-1]");
    expect(run.stdout.split("\n").slice(1).sort()).toEqual([
      "",
      '"resource":"slice-1"',
      '"resource":"slot-1"',
    ]);
    expect(await server.json("leases")).toEqual([]);
  });

  test("serves the command until its cleanup after SIGTERM is done", async () => {
    const run = server.berth(
      bash(
        `handle=$(lease__acquire --type=slot --scope=step)
         trap 'echo clearing; lease__acquire --type=single --scope=step >/dev/null; exit 9' TERM
         echo ready; while :; do sleep 0.05; done`,
        "--proxy",
      ),
    );
    await run.says(/ready/);
    run.signal("SIGTERM");
    expect(await run.ended).toBe(9);
    expect(run.stderr).toContain("Acquired 1 lease(s) for single: [only-1]");
    expect(run.stderr).toMatch(/Releasing the leases of the job: \[only-1 slot-\d\]/);
    expect(await server.json("leases")).toEqual([]);
  });

  test("shows the queue position of a step's request", async () => {
    const holder = await server.done(["acquire", "--pool", "single", "-o", "json"]);
    const { id, token } = JSON.parse(holder.stdout) as { id: string; token: string };
    const run = server.berth(bash("lease__acquire --type=single --scope=step", "--proxy"));
    await run.says(/waiting \ds · position 1 · The only one of single is held; next in line/);
    await server.done(["release", id, "--token", token]);
    expect(await run.ended).toBe(0);
  });

  test("leaves the queue when a step closes its connection", async () => {
    const holder = await server.done(["acquire", "--pool", "single", "-o", "json"]);
    const { id, token } = JSON.parse(holder.stdout) as { id: string; token: string };
    const script = `curl -s -m 1 -X POST "$LEASE_PROXY_SERVER_URL/lease/acquire?type=single" || true
      until [ "$(curl -sf "$BERTH_URL/v1/requests" | grep -c '"id"' || true)" = 0 ]; do sleep 0.05; done
      echo gone`;
    const run = await server.done(bash(script, "--proxy"), { BERTH_URL: server.url });
    expect(run.stdout).toBe("gone\n");
    await server.done(["release", id, "--token", token]);
  });

  test("starts without a server, and reports the failure of each call", async () => {
    const run = await server.done(
      bash(
        `handle=$(lease__acquire --type=slot --scope=step) || echo "failed open: $?"
         echo "installed anyway"`,
        ...["--proxy", "--server", "http://127.0.0.1:9", "--connect-timeout", "0"],
      ),
      { LEASE_RETRIES: "1", LEASE_RETRY_DELAY: "0" },
    );
    expect([run.code, run.stdout]).toEqual([0, "failed open: 1\ninstalled anyway\n"]);
    expect(run.stderr).toContain("Cannot reach the server at http://127.0.0.1:9");
  });
});

test("berth shell-client prints what berth run --proxy names", async () => {
  const printed = await server.done(["shell-client"]);
  const run = await server.done([
    "run",
    "--proxy",
    "--",
    "sh",
    "-c",
    'cat "$LEASE_PROXY_CLIENT_SH"',
  ]);
  expect(printed.stdout).toContain("lease__acquire");
  expect(run.stdout).toBe(printed.stdout);
});

test("curl can acquire from the server itself", async () => {
  const script = `
    export LEASE_PROXY_SERVER_URL="$BERTH_URL"
    handle=$(lease__acquire --type=slot --count=2 --scope=step); lease__release --handle="$handle"`;
  const run = await server.done(bash(script, "--proxy"), { BERTH_URL: server.url });
  expect([run.code, run.stdout]).toEqual([0, "slot-1,slot-2 released\n"]);
});
