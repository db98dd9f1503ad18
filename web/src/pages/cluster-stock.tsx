import type { ClusterPlan } from "../../../src/api/cluster-schemas.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { planOf } from "../data/questions.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { GateCard } from "./gate-card.tsx";

/** What the plan of a pool of clusters wants, and does next. The bar above has what there is. */
export function ClusterStock({ pool }: { pool: Pool }) {
  const { data: plan } = useAnswer(planOf(pool.name));
  if (plan === undefined) return null;
  const { nextSteps } = plan;
  return (
    <GateCard
      title="Clusters"
      status={{ open: true, words: nextSteps.length === 0 ? "as planned" : "at work" }}
      buttons={<Link href={`/clusters?q=${encodeURIComponent(pool.name)}`}>Show its clusters</Link>}
      wide
    >
      <Facts label="Plan" facts={planFacts(plan, pool.total)} />
      <h3 id="next-title">Next steps</h3>
      {nextSteps.length === 0 ? (
        <p className="calm">Nothing to do: the pool has what its plan wants.</p>
      ) : (
        <ul className="plain-list" aria-labelledby="next-title">
          {nextSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ul>
      )}
    </GateCard>
  );
}

function planFacts(
  plan: ClusterPlan,
  total: number,
): readonly (readonly [string, string | number] | false)[] {
  const { size, running, auto, max, concurrent, demand, stale, template } = plan;
  return [
    ["Keep in stock", size],
    ["Running stock", auto ? `${running} (auto)` : running],
    ["Exist now", max === null ? `${total}, no limit` : `${total} of ${max} allowed`],
    concurrent !== null && ["Create in parallel", concurrent],
    ["Wanted by waiting requests", demand],
    template !== null && ["Template", template],
    stale > 0 && ["Of an older revision", stale],
  ];
}
