import { expect, test } from "vitest";
import { inHundredths, onHubWords } from "./cluster-facts.ts";

test("onHubWords() tells the clusters of Berth from those of others, which no limit counts", () => {
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
    onHubWords({ name: "east", limit: 5 }, { items: [...items], foundAt: null });
  expect(words(own, other, other)).toBe(
    "3 clusters on east: 1 of Berth, 2 of others. The limit of 5 counts Berth's only",
  );
  expect(words(own)).toBe("1 cluster on east: 1 of Berth, 0 of others");
});

test("inHundredths() makes a sum of what is shown", () => {
  const values = [0.125, 0.125, 0.136];
  const sum = values.map(inHundredths).reduce((total, value) => total + value, 0);
  expect(sum.toFixed(2)).toBe("0.40");
});
