import type { Pool } from "../../../src/api/schemas.ts";
import { policyFacts } from "./policy-words.ts";

/** The rules of the pool, as the configuration has them; what is not set is left out. */
export function PolicyFacts({ policy }: { policy: Pool["policy"] }) {
  return (
    <dl className="facts" aria-label="Policy">
      {policyFacts(policy).map(([label, words]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}
