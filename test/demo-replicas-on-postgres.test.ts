/** The demo on three servers whose leader is killed: the short form of a day. */
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { Process } from "./cli-processes.ts";
import { postgresTest as test } from "./test-database.ts";

test("the demo on three replicas loses nothing and lends nothing twice when the leader is killed", async () => {
  const main = fileURLToPath(new URL("../demo/main.ts", import.meta.url));
  // A long day has little traffic, so that a busy machine keeps up.
  const day = ["--day", "8h", "--past", "20s", "--for", "1h"];
  const replicas = ["--replicas", "3", "--kill-every", "15s"];
  const args = [main, "--listen", "127.0.0.1:0", ...day, ...replicas];
  const demo = new Process(process.execPath, args, process.env);
  onTestFinished(() => demo.signal("SIGTERM"));
  await demo.says(/Leaders killed so far: 1/);
  demo.signal("SIGTERM");
  expect(await demo.ended, demo.all).toBe(0);
  expect(demo.stdout).toMatch(
    /The leader was killed \d+ times; [1-9]\d* leases: nothing lost, nothing lent twice/,
  );
}, 300_000);
