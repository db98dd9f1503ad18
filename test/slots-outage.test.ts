/** These tests stop the API server, so they have one of their own. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lastPicture } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { KubeCluster } from "./kube-cluster.ts";
import { noTerminal } from "./no-terminal.ts";
import { SlotsWorld } from "./slots-world.ts";

const ctrlC = "\u0003";
const waitForLine = ["run", "--", "sh", "-c", "read -r line; echo $line"];

let cluster: KubeCluster;

describe.skipIf(noKube)("berth slots", { timeout: patienceMs }, () => {
  beforeAll(async () => {
    cluster = await KubeCluster.start();
  }, patienceMs);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  test("a holder and a waiting client survive a restart of the API server", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const holder = world.slots(waitForLine);
    await holder.says(/Acquired/);
    const waiter = world.slots(waitForLine, { GITHUB_RUN_ID: "2" });
    await waiter.says(/position 1/);
    await cluster.stopServer();
    await waiter.says(/Cannot reach the server at .*; retrying/);
    await cluster.startServer();
    holder.type("held\n");
    expect(await holder.ended).toBe(0);
    await waiter.says(/Acquired slot 0 for pr1:2/);
    waiter.type("waited\n");
    expect(await waiter.ended).toBe(0);
    expect([holder.stdout, waiter.stdout]).toEqual(["held\n", "waited\n"]);
    expect(await world.tickets()).toEqual([]);
  });

  test.skipIf(noTerminal)(
    "status --watch on a terminal shows an outage of the API server, and continues after it",
    async () => {
      await using world = await SlotsWorld.make(cluster, 1);
      const watching = world.onTerminal("berth slots status --watch");
      await watching.says(/0 +free/);
      await cluster.stopServer();
      await watching.says(/Cannot reach the server at \S+: connection ref/); // As much as fits.
      await cluster.startServer();
      await world.done(["acquire"]);
      await watching.says(/0 +held +pr1:1/);
      expect(lastPicture(watching).join("\n")).not.toContain("Cannot reach");
      watching.type(ctrlC);
      expect(await watching.ended).toBe(130);
    },
  );
});
