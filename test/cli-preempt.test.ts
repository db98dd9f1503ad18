/** A pool takes a lease back for a request of a higher priority; the holder is a real `berth run`. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

const policy = { preempt: true, lockDelay: "0s" };
const pools = {
  patient: { members: ["patient-1"], ttl: "1h", notice: "1h", ...policy },
  brief: { members: ["brief-1"], ttl: "3s", notice: "1s", ...policy },
};
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start(pools);
});
afterAll(() => server[Symbol.asyncDispose]());

const running = (pool: string, script: string) => {
  return server.berth(["run", "--pool", pool, "--name", "low", "--", "bash", "-c", script]);
};
const urgent = (pool: string) => {
  const args = ["--pool", pool, "--priority", "5", "--holder", "urgent/1", "--timeout", "1m"];
  return server.berth([
    "run",
    ...args,
    "--",
    "sh",
    "-c",
    `echo got $BERTH_RESOURCE_${pool.toUpperCase()}`,
  ]);
};

describe("the holder of a lease that its pool takes back", () => {
  // Its next heartbeat would be in twenty minutes: the server tells it at once.
  test("gets SIGTERM at once, ends in its own time, and the resource goes to the next", async () => {
    const script = `trap 'echo told; sleep 0.3; echo saved; exit 9' TERM
      echo ready; while :; do sleep 0.05; done`;
    const low = running("patient", script);
    await low.says(/ready/);
    const next = urgent("patient");
    expect(await low.ended).toBe(9);
    expect(low.stdout).toBe("ready\ntold\nsaved\n");
    const [notice] = await low.says(/berth: NOTICE.*/);
    expect(notice).toMatch(
      /^berth: NOTICE\. The lease ends by \S+: urgent\/1 with priority 5 needs patient; stopping low$/,
    );
    expect(low.stderr).toContain("Releasing leases");
    expect(await next.ended).toBe(0);
    expect(next.stdout).toBe("got patient-1\n");
  });

  test("exits with 143 if the command has no handler", async () => {
    const low = running("patient", "echo ready; sleep 60");
    await low.says(/ready/);
    const next = urgent("patient");
    expect(await low.ended).toBe(143);
    expect(await next.ended).toBe(0);
  });

  test("loses the lease after the notice if the command goes on", async () => {
    const low = running("brief", "trap '' TERM; echo ready; while :; do sleep 0.05; done");
    await low.says(/ready/);
    const next = urgent("brief");
    await low.says(/NOTICE/);
    expect(await low.ended).toBe(76);
    expect(low.stderr).toMatch(
      /its pool took it back at \S+ \(urgent\/1 with priority 5 needs brief\)/,
    );
    expect(await next.ended).toBe(0);
    expect(next.stdout).toBe("got brief-1\n");
  });
});
