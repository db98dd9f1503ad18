/** What clusters have cost, and what each space has cost in all. */
import type { Cost } from "../../../src/api/cluster-schemas.ts";
import { inHundredths } from "./cluster-facts.ts";

export interface SpaceCosts {
  /** Null: nobody had held these clusters. */
  readonly space: string | null;
  readonly rows: readonly Cost[];
  readonly clusters: number;
  readonly clusterHours: number;
  readonly costHours: number;
}

/** The most expensive first, spaces and the rows of each. Sums are of the figures that are shown. */
export function costsBySpace(costs: readonly Cost[]): SpaceCosts[] {
  const rows = costs
    .map((row) => ({
      ...row,
      clusterHours: inHundredths(row.clusterHours),
      costHours: inHundredths(row.costHours),
    }))
    .toSorted(byCost);
  const spaces = [...new Set(rows.map(({ space }) => space))];
  return spaces
    .map((space) => {
      const own = rows.filter((row) => row.space === space);
      return { space, rows: own, ...sumOf(own) };
    })
    .sort(byCost);
}

function byCost(a: Pick<Cost, "costHours">, b: Pick<Cost, "costHours">): number {
  return b.costHours - a.costHours;
}

/** Of one space no cluster is in two rows. */
export function sumOf(rows: readonly Pick<Cost, "clusters" | "clusterHours" | "costHours">[]) {
  const sum = (of: (row: (typeof rows)[number]) => number) =>
    inHundredths(rows.reduce((total, row) => total + of(row), 0));
  return {
    clusters: sum(({ clusters }) => clusters),
    clusterHours: sum(({ clusterHours }) => clusterHours),
    costHours: sum(({ costHours }) => costHours),
  };
}
