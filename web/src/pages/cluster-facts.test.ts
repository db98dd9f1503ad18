import { expect, test } from "vitest";
import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import { inHundredths, isSlow, kindOf, onHubWords } from "./cluster-facts.ts";

test("onHubWords() tells the clusters of Berth from those of others, which the card does not count", () => {
  const one = {
    kind: "HostedCluster",
    namespace: "clusters",
    name: "c",
    createdAt: "",
    owner: null,
  };
  const rest = { state: "ready", instance: null, ageSeconds: null, lease: null };
  const own = { ...one, ...rest, cluster: "hypershift-1" };
  const other = { ...one, ...rest, cluster: null };
  const words = (...items: readonly (typeof own | typeof other)[]) =>
    onHubWords({ items: [...items], foundAt: null });
  expect(words(own, other, other)).toBe(
    "It had 3 clusters: 1 of Berth, 2 of others (not counted above)",
  );
  expect(words(own)).toBe("It had 1 cluster: 1 of Berth, 0 of others");
});

test("inHundredths() makes a sum of what is shown", () => {
  const values = [0.125, 0.125, 0.136];
  const sum = values.map(inHundredths).reduce((total, value) => total + value, 0);
  expect(sum.toFixed(2)).toBe("0.40");
});

test.each([
  ["busy", {}, "lent"],
  // A worker holds what it makes; that is no loan.
  ["creating", null, "on their way"],
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
