/** How waits are named and drawn: one colour and one dash for each percentile, in every chart. */
export type Percentile = "p50" | "p90" | "p99";

interface PercentileLook {
  readonly label: string;
  /** The name of a colour of the theme. */
  readonly colour: string;
  readonly dash?: "dashed" | "dotted";
}

export const percentileLooks: Readonly<Record<Percentile, PercentileLook>> = {
  p50: { label: "half within", colour: "wait-half", dash: "dashed" },
  p90: { label: "9 in 10 within", colour: "late" },
  p99: { label: "99 in 100 within", colour: "wait-last", dash: "dotted" },
};
