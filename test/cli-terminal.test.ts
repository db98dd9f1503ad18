import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

/** util-linux has a `script` that runs a command on a terminal; that of other systems differs. */
const noTerminal = !/util-linux/.test(spawnSync("script", ["--version"]).stdout?.toString() ?? "");
const pools = { account: { members: ["acc-1"], lockDelay: "0s" } };
const ctrlC = "\u0003";

test.skipIf(noTerminal)(
  "berth run passes Ctrl-C on once, although a terminal tells all",
  async () => {
    await using server = await TestServer.start(pools);
    const script = 'trap "echo got" INT; echo ready; read -r x; echo "<$x>"; exit 4';
    const run = server.onTerminal(`berth run --pool account -- bash -c '${script}'`);
    await run.says(/ready/);
    run.type(ctrlC);
    await run.says(/got/);
    run.type("typed\n");
    await run.says(/<typed>/);
    expect(await run.ended).toBe(4);
    expect(run.all.match(/got/g)).toHaveLength(1);
  },
);

test.skipIf(noTerminal)("berth run draws one line in place while it waits", async () => {
  await using server = await TestServer.start(pools);
  const holder = server.berth(["run", "--pool", "account", "--", "sleep", "60"]);
  await holder.says(/Acquired/);
  const run = server.onTerminal("berth run --no-color --pool account -- true");
  await run.says(/\r⠙ waiting \ds · position 1 · The only one of account is held; you are next/);
  run.type(ctrlC);
  expect(await run.ended).toBe(130);
  expect(run.all.split("\n")).toHaveLength(2); // The announcement, and the line that was wiped out.
  expect(run.all).toMatch(/\r.\[K$/);
});

test.skipIf(noTerminal)("berth status --watch draws over itself, and tells of a loss", async () => {
  await using server = await TestServer.start(pools);
  const watching = server.onTerminal("berth status --watch");
  await watching.says(/account +\S+░/);
  const holder = server.berth(["run", "--pool", "account", "--", "sleep", "60"]);
  await watching.says(/\[2A\r.*account.*1\/1/s);
  await server.stop("SIGKILL");
  await watching.says(/Cannot reach the server at \S+: connection refused; trying/);
  await server.start();
  await watching.says(/\[3A\r.*1\/1[^\n]*\n.\[J/s); // The notice is gone again.
  holder.signal("SIGTERM");
  await watching.says(/\[2A\r.*0\/1/s);
  watching.type(ctrlC);
  expect(await watching.ended).toBe(130);
});
