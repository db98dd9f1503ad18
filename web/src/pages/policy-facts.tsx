import type { Pool } from "../../../src/api/schemas.ts";

const labels: Readonly<Record<string, string>> = {
  ttl: "Silence ends it after",
  lifetime: "Never longer than",
  hold: "Given back after",
  cooldown: "Rests for",
  lockDelay: "Lock-delay",
  patience: "Patience",
  onRelease: "On release",
  onExpire: "On expiry",
  pace: "Pace",
  adaptive: "Rate by reports",
  parent: "Draws on",
  limit: "Limit",
};

/** The rules of the pool, as the configuration has them; what is not set is left out. */
export function PolicyFacts({ policy }: { policy: Pool["policy"] }) {
  const facts = Object.entries(policy).flatMap(([key, value]): [string, string][] => {
    const words = inWords(value);
    return words === "" || words === "0s" ? [] : [[key, words]];
  });
  return (
    <dl className="facts" aria-label="Policy">
      {facts.map(([key, value]) => (
        <div key={key}>
          <dt>{labels[key] ?? key}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Rules that this page does not know yet are told as they come: `every 24s, burst 5`. */
function inWords(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([key, part]) => `${key} ${inWords(part)}`)
    .join(", ");
}
