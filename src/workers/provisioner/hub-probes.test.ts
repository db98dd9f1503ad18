import { expect, test } from "vitest";
import { HubProbes } from "./hub-probes.ts";
import type { SweepTools } from "./lent-access.ts";

test("HubProbes lists the clusters again at the first answer after an outage or a failed list", async () => {
  const stop = new AbortController();
  const done: string[] = [];
  // A probe reads the groups once, and again after a failure; a list reads them once more.
  const answers = [true, true, true, false, false, true, false, true, true];
  const call = async () => {
    const answer = answers.shift();
    if (answer === undefined) stop.abort();
    if (answer !== true) throw new Error("no answer");
    return { groups: [] };
  };
  const tools = {
    work: {
      hubProbed: async (_: string, { error }: { error?: string }) => {
        done.push(error ?? "answers");
      },
      hubClusters: async () => {
        done.push("list");
      },
    },
    archive: { current: [] },
    hubs: { all: [{ name: "east", labels: {}, foreign: {} }] },
    drivers: { hub: () => ({ call }) },
  };
  const probes = new HubProbes(tools as unknown as SweepTools, {
    ...{ probeMs: 1, signal: stop.signal },
    retrying: () => done.push("list failed"),
  });
  await probes.run();
  expect(done).toEqual([
    ...["answers", "list", "answers", "no answer"],
    ...["answers", "list failed", "answers", "list"],
  ]);
});
