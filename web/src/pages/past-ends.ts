/** The ends that past leases and cleanings can be filtered by. */

interface End {
  /** In the address. */
  readonly value: string;
  readonly words: string;
  /** As the API has them, if it is not one of the same name. */
  readonly hows?: readonly string[];
}

const operators = { value: "operators", words: "by operators", hows: ["revoked", "removed"] };

const ofLeases: readonly End[] = [
  { value: "released", words: "released" },
  { value: "hold", words: "auto-released" },
  { value: "expired", words: "expired" },
  { value: "lifetime", words: "max lifetime" },
  operators,
  {
    value: "left",
    words: "before a start",
    hows: ["cancelled", "removed", "disconnected", "abandoned", "unsatisfiable", "undecidable"],
  },
];

const ofCleanings: readonly End[] = [
  { value: "cleaned", words: "cleaned" },
  { value: "failed", words: "failed" },
  { value: "stopped", words: "stopped" },
  { value: "expired", words: "expired" },
  { ...operators, hows: ["revoked"] },
];

export function endsOf(purpose: string): readonly End[] {
  return purpose === "clean" ? ofCleanings : ofLeases;
}

/**
 * What the API is asked for. An end of the other list is none: it was chosen before. Any other is taken as it
 * is, so an address may have an end that nobody can choose.
 */
export function howOf(value: string, purpose: string): string | undefined {
  const found = endsOf(purpose).find((end) => end.value === value);
  if (found !== undefined) return found.hows?.join(",") ?? value;
  const isOther = [...ofLeases, ...ofCleanings].some((end) => end.value === value);
  return value === "" || isOther ? undefined : value;
}
