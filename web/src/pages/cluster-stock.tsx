import type { ClusterPlan } from "../../../src/api/cluster-schemas.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { planOf } from "../data/questions.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";

/** The stock of a pool of clusters, and what its plan does now and next. */
export function ClusterStock({ pool }: { pool: Pool }) {
  const { data: plan } = useAnswer(planOf(pool.name));
  if (plan === undefined) return null;
  const count = (state: string) => pool.states[state] ?? 0;
  return (
    <section aria-labelledby="stock-title">
      <h2 id="stock-title">Clusters</h2>
      <Facts
        label="Stock"
        facts={[
          ["Ready", count("free")],
          ["Hibernated", count("hibernated") + count("stopping")],
          ["Resuming", count("resuming")],
          ["Creating", count("creating")],
          ["Lent", count("busy")],
          ["Broken", count("broken")],
          ["Being destroyed", count("used") + count("destroying")],
        ]}
      />
      <Facts label="Plan" facts={planFacts(plan)} />
      <h3 id="next-title">Next steps</h3>
      {plan.nextSteps.length === 0 ? (
        <p className="calm">Nothing to do: the pool has what its plan wants.</p>
      ) : (
        <ul className="plain-list" aria-labelledby="next-title">
          {plan.nextSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ul>
      )}
      <p className="aside-note">
        <Link href={`/clusters?q=${encodeURIComponent(pool.name)}`}>
          All clusters of {pool.name}
        </Link>
        {plan.template === null ? null : ` are made from the template ${plan.template}.`}
      </p>
    </section>
  );
}

function planFacts(plan: ClusterPlan): readonly (readonly [string, string | number] | false)[] {
  const { size, running, auto, max, concurrent, demand, stale } = plan;
  return [
    ["Kept in stock", size],
    ["Awake", auto ? `${running} (auto)` : running],
    ["At most", max ?? "no limit"],
    concurrent !== null && ["At one time", concurrent],
    ["Waited for", demand],
    stale > 0 && ["Of an older revision", stale],
  ];
}
