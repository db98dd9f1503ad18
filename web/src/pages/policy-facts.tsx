import type { Pool } from "../../../src/api/schemas.ts";
import { meaningOf, policyFacts } from "./policy-words.ts";

/** The pool's policy from the configuration, without the keys that are not set. */
export function PolicyFacts({ pool }: { pool: Pool }) {
  return (
    <section aria-labelledby="policy-title">
      <h2 id="policy-title">Policy</h2>
      <dl className="facts" aria-label="Policy">
        {policyFacts(pool).map(([label, words]) => (
          <div key={label} title={meaningOf(label)}>
            <dt>{label}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
