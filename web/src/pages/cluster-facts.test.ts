import { expect, test } from "vitest";
import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import {
  inHundredths,
  isSlow,
  isStockComplete,
  kindOf,
  onHubWords,
  urgencyOf,
  waitingElsewhere,
} from "./cluster-facts.ts";

test("onHubWords() tells the clusters of Berth from those of others, also after they are gone", () => {
  const one = {
    ...{ kind: "HostedCluster", namespace: "clusters", name: "c", createdAt: "", owner: null },
    ...{ state: "ready", ageSeconds: null, lease: null, cluster: null },
  };
  const gone = { ...one, instance: "hypershift-1.7" };
  const other = { ...one, instance: null };
  expect(onHubWords([gone, other, other])).toBe("1 of Berth, 2 others");
  expect(onHubWords([gone])).toBe("1 of Berth");
});

test("inHundredths() makes a sum of what is shown", () => {
  const values = [0.125, 0.125, 0.136];
  const sum = values.map(inHundredths).reduce((total, value) => total + value, 0);
  expect(sum.toFixed(2)).toBe("0.40");
});

test.each([
  ["busy", {}, "lent"],
  // A worker holds what it makes; that is no loan.
  ["creating", null, "changing"],
  ["free", null, "free"],
  ["hibernated", null, "hibernated"],
  ["broken", null, "other"],
])("a cluster that is %s counts once", (state, lease, want) => {
  expect(kindOf({ state, lease } as Cluster)).toBe(want);
});

test.each([
  [60, 59_000, false],
  [60, 61_000, true],
  [null, 999_000, false],
])("usually %s s: after %s ms it is slow: %s", (usualSeconds, nowMs, want) => {
  const phase = { since: new Date(0).toISOString(), usualSeconds } as Cluster["phase"];
  expect(isSlow({ phase }, nowMs)).toBe(want);
});

test("urgencyOf() puts a cluster that fails before those on their way", () => {
  const calm = { state: "creating", failures: 0, stuck: null, lost: null, hold: null } as Cluster;
  const failing = { ...calm, state: "destroying", failures: 1 };
  expect(urgencyOf(failing)).toBeLessThan(urgencyOf(calm));
});

test("waitingElsewhere() finds the requests for which a cluster is ready too early", () => {
  const request = (id: string, pool: string | null) => {
    return { id, reason: { code: "paced", pool, message: "" } } as WaitingRequest;
  };
  const queue = [request("a", "ocp"), request("b", "install"), request("c", null)];
  expect(waitingElsewhere(queue, "ocp").map(({ id }) => id)).toEqual(["b"]);
});

test.each([
  [{ free: 1, hibernated: 2, busy: 1 }, {}, true],
  [{ free: 4 }, {}, true],
  [{ free: 1, hibernated: 1 }, {}, false],
  [{ free: 2, hibernated: 1, stopping: 1 }, {}, false],
  [{ free: 3, used: 1 }, {}, false],
  [{ free: 3 }, { underWay: ["creating ocp-4"] }, false],
  [{ free: 3 }, { nextSteps: ["replaces 1 outdated cluster, one at a time"] }, false],
])("isStockComplete() of %o with %o", (states, steps, want) => {
  expect(isStockComplete({ size: 3, underWay: [], nextSteps: [], ...steps }, states)).toBe(want);
});
