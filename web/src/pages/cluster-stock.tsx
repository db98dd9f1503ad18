import type { ReactNode } from "react";
import type { ClusterPlan } from "../../../src/api/cluster-schemas.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { planOf, queueOf } from "../data/questions.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { inWords } from "../parts/times.tsx";
import { at } from "../router.ts";
import { isStockComplete, waitingElsewhere } from "./cluster-facts.ts";
import { GateCard } from "./gate-card.tsx";

/** What a pool of clusters keeps ready beside what there is, what it does now, and next. */
export function ClusterStock({ pool }: { pool: Pool }) {
  const { data: plan } = useAnswer(planOf(pool.name));
  if (plan === undefined) return null;
  const { underWay, nextSteps } = plan;
  const isIdle = isStockComplete(plan, pool.states);
  return (
    <GateCard
      title="Stock"
      status={{ open: true, words: isIdle ? "as planned" : "at work" }}
      buttons={<Link href={`/clusters?q=${encodeURIComponent(pool.name)}`}>Show its clusters</Link>}
      wide
    >
      <Facts label="Plan" facts={planFacts(plan, pool)} />
      <Steps title="Now" steps={underWay} />
      <Steps title="Next" steps={nextSteps} />
      {isIdle ? (
        <p className="calm">
          Nothing to do: the stock is complete. <ReadyFor pool={pool.name} demand={plan.demand} />
        </p>
      ) : null}
    </GateCard>
  );
}

/** For whom a cluster is ready that nobody has taken. */
function ReadyFor({ pool, demand }: { pool: string; demand: number }) {
  const { data } = useAnswer(queueOf(pool));
  const [first, ...others] = waitingElsewhere(data ?? [], pool);
  if (first === undefined || demand === 0) return null;
  if (others.length > 0) {
    return `${grouped(others.length + 1)} requests wait for other pools before they take theirs.`;
  }
  return (
    <>
      1 is for <Link href={at("requests", first.id)}>{first.holder}</Link>, which waits for{" "}
      <Link href={at("pools", first.reason.pool ?? "")}>{first.reason.pool}</Link>.
    </>
  );
}

function Steps({ title, steps }: { title: string; steps: readonly string[] }) {
  if (steps.length === 0) return null;
  return (
    <section className="steps" aria-label={title}>
      <h3>{title}</h3>
      <ul className="plain-list">
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ul>
    </section>
  );
}

/** In stock is what nobody holds: free, which is lent at once, or hibernated. */
function planFacts(
  plan: ClusterPlan,
  { total, states }: Pool,
): readonly (readonly [string, ReactNode] | false)[] {
  const { size, running, auto, max, concurrent, demand, stale, template, usualSeconds } = plan;
  const free = states["free"] ?? 0;
  const hibernated = states["hibernated"] ?? 0;
  const wake = usualSeconds.resuming;
  // Where none has ever slept, both would be the same number.
  const sleeps = hibernated > 0 || usualSeconds.stopping !== null || wake !== null;
  return [
    [
      "In stock",
      <Amount
        key="s"
        field="size"
        hint={`free${sleeps ? " or hibernated" : ""}; keeps ${grouped(size)}`}
      >
        {grouped(free + hibernated)}
      </Amount>,
    ],
    sleeps && [
      "Free in stock",
      <Amount
        key="a"
        field="running"
        hint={`keeps ${grouped(running)}${auto ? " by demand" : ""}${wake === null ? "" : `; others wake in about ${inWords(wake)}`}`}
      >
        {grouped(free)}
      </Amount>,
    ],
    demand > 0 && [
      "For waiting requests",
      <Amount key="d" hint="created or woken for them">
        {grouped(demand)}
      </Amount>,
    ],
    [
      "All clusters",
      <Amount key="t" field="max" hint={max === null ? "no limit" : "in any state"}>
        {max === null ? grouped(total) : `${grouped(total)} of at most ${grouped(max)}`}
      </Amount>,
    ],
    concurrent !== null && [
      "Concurrent",
      <Amount key="c" field="concurrent" hint="created or destroyed at a time">
        at most {grouped(concurrent)}
      </Amount>,
    ],
    template !== null && [
      "Template",
      <Amount key="m" field="template" hint={usualTimes(usualSeconds)}>
        {template}
      </Amount>,
    ],
    stale > 0 && [
      "Outdated",
      <Amount key="o" hint="of an older template; replaced one at a time">
        {grouped(stale)}
      </Amount>,
    ],
  ];
}

interface AmountProps {
  readonly children: ReactNode;
  readonly hint: string;
  /** The key of the pool in the configuration that says how many. */
  readonly field?: string;
}

function Amount({ children, hint, field }: AmountProps) {
  return (
    <span title={field === undefined ? undefined : `${field}: of the pool in the configuration`}>
      {children}
      {hint === "" ? null : <small className="hint">{hint}</small>}
    </span>
  );
}

/** `created in about 22s, destroyed in about 5s` */
function usualTimes({ creating, destroying }: ClusterPlan["usualSeconds"]): string {
  const parts = [
    creating === null ? "" : `created in about ${inWords(creating)}`,
    destroying === null ? "" : `destroyed in about ${inWords(destroying)}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
