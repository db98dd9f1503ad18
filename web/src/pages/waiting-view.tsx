import { isLaterThanEstimated, isOverdue } from "../../../src/api/late-estimate.ts";
import type { Explanation, WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { explanation } from "../data/questions.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, inWholeSeconds, Moment } from "../parts/times.tsx";
import { Unbroken } from "../parts/unbroken.tsx";
import { conditionsText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { removeFromQueueAction } from "./actions.ts";
import { BumpButton } from "./bump-button.tsx";
import { NeedSection } from "./need-section.tsx";

export function WaitingView({ request }: { request: WaitingRequest }) {
  const { id, holder, queuedAt, reason, labels, priority, space } = request;
  const { data } = useAnswer(explanation(id));
  return (
    <>
      <PageHead title={holder} chip={<StateChip state="waiting" />}>
        <BumpButton request={request} />
        <ActionButton action={removeFromQueueAction(request)} />
      </PageHead>
      <p className="callout">
        <b>Why it waits</b> <Unbroken text={`${reason.message}.`} />
      </p>
      <Figures label="The request in numbers" figures={figuresOf(request)} />
      {data?.needs.map((need) => (
        <NeedSection
          key={`${need.pool} ${need.state}`}
          need={need}
          request={request}
          space={data.space}
          amount={request.items.find(({ pool }) => pool === need.pool)?.amount}
        />
      ))}
      <Quotas quotas={quotasFor(request, data)} />
      <section aria-labelledby="about-title">
        <h2 id="about-title">About it</h2>
        <Facts
          label="About it"
          facts={[
            ["Wants", request.items.map(wantsText).join("; ")],
            ["Asked", <Moment key="q" at={queuedAt} />],
            ["Priority", priority],
            space !== undefined && ["Space", space],
            ["Id", <code key="id">{id}</code>],
            ...Object.entries(labels).map(([key, value]): [string, string] => [key, value]),
          ]}
        />
      </section>
    </>
  );
}

/** A quota of another pool does not hold it back. */
function quotasFor({ items }: WaitingRequest, data: Explanation | undefined): readonly Quota[] {
  const pools = items.flatMap(({ pool, anyOf = [] }) => [pool, ...anyOf]);
  return (data?.space?.quotas ?? []).filter(({ pool }) => pool === null || pools.includes(pool));
}

function figuresOf(request: WaitingRequest): Figure[] {
  return [
    { label: "Position", value: request.position },
    { label: "Waiting for", value: <Age since={request.queuedAt} /> },
    ...startFigures(request),
    ...firstFigure(request),
  ];
}

function startFigures(request: WaitingRequest): Figure[] {
  const label = "Expected start";
  const { estimate } = request;
  if (estimate === null) return [{ label, value: "unknown", aside: "so far" }];
  const { p50Seconds, p90Seconds, samples, exact } = estimate;
  if (exact) {
    const soon = p50Seconds < 1 ? "any moment" : `in ${inWholeSeconds(p50Seconds)}`;
    return [{ label, value: soon, aside: "when a cooldown or a pace ends" }];
  }
  const by = `by ${samples} recorded holds`;
  if (isOverdue(request)) return [{ label, value: "later than estimated", aside: by }];
  const soon = p50Seconds < 1 ? "any moment" : `in about ${inWholeSeconds(p50Seconds)}`;
  return [
    { label, value: soon },
    { label: "9 in 10 start within", value: inWholeSeconds(p90Seconds), aside: by },
  ];
}

/** What it was told at first, for those who planned with it. */
function firstFigure(request: WaitingRequest): Figure[] {
  const first = request.estimate?.first;
  if (first === undefined) return [];
  const late = isLaterThanEstimated(request);
  return [
    {
      label: "First estimate",
      value: <Moment at={first.p50At} />,
      aside: late ? "it is late" : "",
      bad: late,
    },
  ];
}

function wantsText(item: WaitingRequest["items"][number]): string {
  const conditions = conditionsText(item);
  const of = `${item.count} of ${item.pool}`;
  return conditions === "" ? of : `${of} (${conditions})`;
}

type Quota = NonNullable<Explanation["space"]>["quotas"][number];

/** The quotas of its space, and who in the space holds what they limit. */
function Quotas({ quotas }: { quotas: readonly Quota[] }) {
  if (quotas.length === 0) return null;
  return (
    <section aria-labelledby="quotas-title">
      <h2 id="quotas-title">Quotas of its space</h2>
      <ul className="plain-list">
        {quotas.map(({ pool, dimension, held, max, cohort = null, heldBy = [] }) => (
          <li key={`${pool} ${dimension}`}>
            {held} of {max} {[dimension, pool].filter((part) => part !== null).join(" of ")}
            {heldBy.map(({ id, holder }, index) => (
              <span key={id}>
                {index === 0 ? ", held by " : ", "}
                <Link href={at("leases", id)}>{holder}</Link>
              </span>
            ))}
            {cohort === null ? null : (
              <span className="faint">
                {"; "}
                cohort {cohort.name} uses {cohort.used} of {cohort.capacity}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
