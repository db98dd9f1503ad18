import { describe, expect, test } from "vitest";
import { lastPicture } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { hostedCluster } from "./kube-kinds.ts";
import { noTerminal } from "./no-terminal.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

const ctrlC = "\u0003";
const cluster = sharedCluster();

describe.skipIf(noKube || noTerminal)(
  "berth slots status --watch on a terminal",
  { timeout: patienceMs },
  () => {
    test("is redrawn in place after a change, and restores the terminal", async () => {
      await using world = await SlotsWorld.make(cluster, 2);
      const watching = world.onTerminal("berth slots status --watch; echo back here");
      await watching.says(/0 +free.*1 +free/s);
      await world.done(["acquire"]);
      await watching.says(/0 +held +pr1:1/);
      await hostedCluster(cluster, world.set.namespace, "berth-pr1");
      await world.script(1, "pr2:7", { leaseDurationSeconds: 1 });
      await watching.says(/1 +expired.*pr2:7[\s\S]*berth-pr1 +creating +\S+ +pr1:1/);
      const lines = lastPicture(watching);
      expect(lines.filter((line) => /^ *[01] +(held|expired)/.test(line))).toHaveLength(2);
      expect(lines.every((line) => line.length <= 80)).toBe(true);
      expect(watching.all).toMatch(/.\[33m *1 +expired/); // Marked by a colour as well.
      watching.type(ctrlC);
      await watching.says(/back here/);
      expect(watching.all).toMatch(/\[\?25h.*\[\?1049l.*back here/s);
    });
  },
);
