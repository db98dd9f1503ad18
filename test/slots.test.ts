import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noKube } from "./kube-binaries.ts";
import { KubeCluster } from "./kube-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

let cluster: KubeCluster;
describe.skipIf(noKube)("berth slots", () => {
  beforeAll(async () => {
    cluster = await KubeCluster.start();
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  test("acquire takes the lowest free slot and writes all that others need to judge it", async () => {
    await using world = await SlotsWorld.make(cluster);
    const acquired = await world.done(["acquire"]);
    expect(acquired.stdout).toBe("0\n");
    expect(acquired.code).toBe(0);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(await world.slot(0)).toMatchObject({
      metadata: { labels: { app: "rossoctl-ci", slot: "0" } },
      spec: {
        holderIdentity: "pr1:1",
        leaseDurationSeconds: 7_200,
        acquireTime: time,
        renewTime: time,
        leaseTransitions: 1,
      },
    });
    const other = await world.done(["acquire", "-o", "json"], { CLUSTER_SUFFIX: "pr2" });
    expect(JSON.parse(other.stdout)).toMatchObject({ slot: 1, identity: "pr2:1", fence: 2 });
  });
});
