import { expect, test } from "vitest";
import { costsBySpace, sumOf } from "./cost-facts.ts";

const cost = (space: string | null, pool: string, costHours: number, clusterHours = 1) => ({
  ...{ space, pool, template: "ocp", clusters: 2, clusterHours, costHours },
});

test("costsBySpace() sums what is shown, the most expensive first", () => {
  const found = costsBySpace([
    cost("data", "aws", 5),
    cost("web", "gcp", 1.004, 0.334),
    cost(null, "aws", 2),
    cost("web", "aws", 4.504, 0.334),
  ]);
  expect(found.map(({ space, costHours }) => [space, costHours])).toEqual([
    ["web", 5.5],
    ["data", 5],
    [null, 2],
  ]);
  expect(found[0]?.rows.map(({ pool }) => pool)).toEqual(["aws", "gcp"]);
  expect(found[0]).toMatchObject({ clusters: 4, clusterHours: 0.66 });
  expect(sumOf(found)).toMatchObject({ clusterHours: 2.66, costHours: 12.5 });
  expect(costsBySpace([])).toEqual([]);
});
