import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { lastPicture, TestServer } from "./cli-processes.ts";
import { noTerminal } from "./no-terminal.ts";

const pools = { account: { members: ["acc-1"], lockDelay: "0s" } };
const ctrlC = "\u0003";

test.skipIf(noTerminal)(
  "berth run passes Ctrl-C on once, although the terminal signals every process",
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
  await run.says(/\r⠙ waiting \ds · position 1 · The only one of account is held; next in line/);
  run.type(ctrlC);
  expect(await run.ended).toBe(130);
  expect(run.all.split("\n")).toHaveLength(2); // The announcement, and the line that was wiped out.
  expect(run.all).toMatch(/\r.\[K$/);
});

test.skipIf(noTerminal)(
  "berth status --watch redraws in place, and shows a lost connection",
  async () => {
    await using server = await TestServer.start(pools);
    const watching = server.onTerminal("berth status --watch");
    await watching.says(/1 pool · 0\/1 held.*account +0\/1/s);
    const holder = server.berth(["run", "--pool", "account", "--", "sleep", "60"]);
    await watching.says(/\[H.*account +1\/1/s);
    await server.stop("SIGKILL");
    await watching.says(/Cannot reach the server at \S+: connection refused; retrying/);
    await server.start();
    await watching.says(/retrying.*account +1\/1[^\n]*\n.\[J/s); // The notice is gone again.
    holder.signal("SIGTERM");
    await watching.says(/retrying.*account +0\/1/s);
    watching.type(ctrlC);
    expect(await watching.ended).toBe(130);
  },
);

test.skipIf(noTerminal)("berth status --watch fits 50 columns, and q quits it", async () => {
  const long = "a-pool-with-quite-a-long-name";
  await using server = await TestServer.start({
    account: { members: ["acc-1"] },
    [long]: { count: 9 },
  });
  await server.done(["acquire", "--pool", "account", "--ttl", "1h"]);
  const waits = server.berth(["run", "--pool", "account", "--", "true"]);
  await waits.says(/waiting/);
  const watching = server.onTerminal("stty cols 50; berth status --watch; echo exit $?; stty -a");
  // One whole drawing, because the next one may have begun.
  const [drawn] = await watching.says(/\[H(?:(?!\[H).)*account +1\/1 +0 +1 +\d+s.*?\[\?2026l/s);
  const lines = stripVTControlCharacters(drawn.slice(2)).split("\r\n");
  expect(lines.every((line) => line.length <= 50)).toBe(true);
  expect(lines[0]).toMatch(/^2 pools · 1\/10 held · 1 waiting up to \d+s$/);
  expect(lines[2]).toMatch(/^POOL +HELD +FREE +WAITING +OLDEST$/);
  expect(lines.find((line) => line.startsWith("a-pool"))).toMatch(/^a-pool-\S*… +0\/9 +9 +0 +-$/);
  watching.type("q");
  await watching.says(/exit 0/);
  await watching.says(/[^-]icanon/); // The terminal is as it was.
  expect(await watching.ended).toBe(0);
});

const manyPools = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => [`pool-${at + 10}`, { count: 4 }]),
);

describe.skipIf(noTerminal)("berth status --watch with more pools than lines", () => {
  test("shows pools with a queue, and the number of hidden pools", async () => {
    await using server = await TestServer.start(manyPools);
    await server.done(["acquire", "--pool", "pool-69:4", "--ttl", "1h"]);
    const waits = server.berth(["run", "--pool", "pool-69", "--", "true"]);
    await waits.says(/waiting/);
    const watching = server.onTerminal("berth status --watch");
    await watching.says(/… 41 more not shown, none with a queue; pass pool names to see them/);
    const lines = lastPicture(watching);
    expect(lines[0]).toMatch(
      /^60 pools · 4\/240 held \(1\.7%\) · 236 free · 0 out · 1 waiting up to/,
    );
    expect(lines.filter((line) => /^pool-\d/.test(line))).toHaveLength(19);
    expect(lines.find((line) => line.startsWith("pool-69"))).toMatch(/ 1 +\d+s +█$/);
    watching.type(ctrlC);
    expect(await watching.ended).toBe(130);
  });

  test("follows the size of its window, and leaves the terminal as it found it", async () => {
    await using server = await TestServer.start(manyPools);
    // A window that is resized: the size is set from beside, as a window manager would.
    const watching = server.onTerminal("tty; berth status --watch; echo back here");
    const [, tty = ""] = await watching.says(/(\/dev\/pts\/\d+)/);
    await watching.says(/… 41 more/);
    spawnSync("stty", ["-F", tty, "cols", "120", "rows", "50"]);
    await watching.says(/░{12}.*… 15 more/s);
    expect(lastPicture(watching).every((line) => line.length <= 120)).toBe(true);
    spawnSync("stty", ["-F", tty, "cols", "80", "rows", "12"]);
    await watching.says(/… 53 more/);
    watching.type(ctrlC);
    await watching.says(/back here/);
    const restored = /\[\?7h.\[\?25h.\[\?1049l.*back here/s;
    expect(watching.all.match(/\[\?1049h/g)).toHaveLength(1);
    expect(watching.all).toMatch(restored);
  });
});
