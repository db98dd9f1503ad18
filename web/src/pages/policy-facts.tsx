import type { Pool } from "../../../src/api/schemas.ts";
import { hasPace } from "./flow-facts.ts";
import { PinButtons } from "./pin-buttons.tsx";
import { meaningOf, policyFacts } from "./policy-words.ts";

/** The pool's policy from the configuration, without the keys that are not set. */
export function PolicyFacts({ pool }: { pool: Pool }) {
  return (
    <section aria-labelledby="policy-title">
      <div className="tools">
        <h2 id="policy-title">Policy</h2>
        {/* A pool with a pace has it there. */}
        {pool.flow.limits.length === 0 || hasPace(pool) ? null : <PinButtons pool={pool} />}
      </div>
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
