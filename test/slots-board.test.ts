import { describe, expect, test } from "vitest";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import { LeaseBoard } from "../src/kubernetes/lease-board.ts";
import { LeaseStore } from "../src/kubernetes/lease-store.ts";
import { newSlot, takenOver } from "../src/slots/slot.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

const cluster = sharedCluster();

describe.skipIf(noKube)("a board of leases", { timeout: patienceMs }, () => {
  test("ignores changes of a late watch that are older than its last list", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await using proxy = await KubeProxy.start(cluster);
    const watch = Promise.withResolvers<void>();
    proxy.before = ({ path }) => (path.includes("watch=true") ? watch.promise : Promise.resolve());
    const kubeconfig = await cluster.configVia(proxy.url, world.jobConfig);
    const store = new LeaseStore(await ApiServer.connect({ kubeconfig }), world.set.namespace);
    await using board = await LeaseBoard.open(store, {});
    const term = (identity: string) => ({ identity, durationSeconds: 60, nowMs: Date.now() });
    const first = await world.store.create(newSlot(world.set, 0, term("first:1")));
    await world.store.replace(takenOver(world.set, 0, first, term("second:1")));
    await board.refresh();
    await world.store.create(newSlot(world.set, 1, term("last:1")));

    const seen = new Set<string | undefined>();
    for (;;) {
      const { changed } = board;
      const holders = board.view.leases.map(({ spec }) => spec?.holderIdentity);
      for (const holder of holders) seen.add(holder);
      if (seen.has("last:1")) break;
      watch.resolve();
      await changed;
    }
    expect([...seen]).toEqual(["second:1", "last:1"]);
  });
});
