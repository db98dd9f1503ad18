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
};

/** The rules of the pool, as the configuration has them; what is not set is left out. */
export function PolicyFacts({ policy }: { policy: Pool["policy"] }) {
  const facts = Object.entries(policy).filter(
    ([, value]) => typeof value === "string" && value !== "0s",
  );
  return (
    <dl className="facts" aria-label="Policy">
      {facts.map(([key, value]) => (
        <div key={key}>
          <dt>{labels[key] ?? key}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
