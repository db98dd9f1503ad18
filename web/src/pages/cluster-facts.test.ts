import { expect, test } from "vitest";
import { inHundredths, onHubWords } from "./cluster-facts.ts";

test("onHubWords() tells the clusters of Berth from those of others, which no limit counts", () => {
  const own = { cluster: "hypershift-1" };
  const other = { cluster: null };
  expect(onHubWords({ name: "east", limit: 5 }, [own, other, other])).toBe(
    "3 clusters on east: 1 of Berth, 2 of others. The limit of 5 counts Berth's only",
  );
  expect(onHubWords({ name: "east", limit: 5 }, [own])).toBe(
    "1 cluster on east: 1 of Berth, 0 of others",
  );
});

test("inHundredths() makes a sum of what is shown", () => {
  const values = [0.125, 0.125, 0.136];
  const sum = values.map(inHundredths).reduce((total, value) => total + value, 0);
  expect(sum.toFixed(2)).toBe("0.40");
});
