/** The provisioner observes many clusters: how long a sweep takes, and how many calls run at once. */

import { defaultPhaseLimits } from "../src/core/model/cluster.ts";
import { noMask } from "../src/drivers/secret-mask.ts";
import { CallLimit } from "../src/workers/provisioner/call-limit.ts";
import type { ClusterWork, WatchedCluster } from "../src/workers/provisioner/cluster-work.ts";
import { DriverSet } from "../src/workers/provisioner/driver-set.ts";
import { HubPlaces } from "../src/workers/provisioner/hub-places.ts";
import { callsAtOnceDefault } from "../src/workers/provisioner/limits.ts";
import { Sweep } from "../src/workers/provisioner/sweep.ts";
import { TemplateArchive } from "../src/workers/provisioner/template-archive.ts";

export interface ObserveFigures {
  readonly clusters: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly callsAtOnce: number;
}

/** Each observation is a process of its own, of a shell that answers at once. */
export async function benchObserve(count: number): Promise<ObserveFigures> {
  const archive = new TemplateArchive();
  archive.configure([
    {
      ...{ name: "t", revision: "r", parameters: {}, pinned: {}, credentials: {} },
      ...{ ownCredentials: null, cost: 0, limits: defaultPhaseLimits, hibernates: true },
      validates: false,
      orphans: "report",
      how: {
        ...{ driver: "command", folder: "/", env: {}, timeoutMs: 60_000 },
        command: ["/bin/sh", "-c", `echo '{"phase":"ready"}'`],
      },
    },
  ]);
  const clusters = Array.from(
    { length: count },
    (_, index): WatchedCluster => ({
      ...{ resource: `c-${index}`, pool: "p", instance: `c-${index}.1`, state: "free" },
      ...{
        template: "t",
        revision: "r",
        parameters: {},
        hub: null,
        space: null,
        handle: undefined,
      },
    }),
  );
  const unused = () => Promise.reject(new Error("A sweep of healthy clusters changes nothing"));
  const work: ClusterWork = {
    ...{ take: unused, waitForWork: unused, lost: unused, putLentAccess: unused, lentOf: unused },
    ...{ found: unused, spaceCredentials: unused, takeCheck: unused, answerCheck: unused },
    ...{ hubProbed: unused, hubClusters: unused, templatesChecked: unused },
    clusters: async () => clusters,
  };
  const calls = new CallLimit(callsAtOnceDefault);
  const hubs = new HubPlaces();
  const tools = { work, archive, hubs, drivers: new DriverSet(archive, hubs, noMask), calls };
  const sweep = new Sweep(tools, {}, new AbortController().signal);
  let callsAtOnce = 0;
  const watch = setInterval(() => {
    callsAtOnce = Math.max(callsAtOnce, calls.running);
  }, 5);
  const startedAt = performance.now();
  await sweep.observeAll();
  clearInterval(watch);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    clusters: count,
    seconds: Math.round(seconds * 10) / 10,
    perSecond: Math.round(count / seconds),
    callsAtOnce,
  };
}
