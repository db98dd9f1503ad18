import { isLaterThanEstimated, isOverdue } from "../../../src/api/late-estimate.ts";
import type { Explanation, WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { explanation, queueOf } from "../data/questions.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CapacityLine } from "../parts/capacity-bars.tsx";
import { Facts } from "../parts/facts.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { PageHead } from "../parts/page-head.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, inWholeSeconds, Moment } from "../parts/times.tsx";
import { Unbroken } from "../parts/unbroken.tsx";
import { conditionsText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { removeFromQueueAction } from "./actions.ts";
import { BumpButton } from "./bump-button.tsx";
import { usePartOnTime } from "./estimate.tsx";
import { noEstimateWords, startWords } from "./estimate-words.ts";
import { isPaced } from "./flow-facts.ts";
import { NeedSection } from "./need-section.tsx";
import { positionThere } from "./queue-facts.ts";
import { useSeesAllSpaces } from "./queue-table.tsx";
import { type Turn, turnsIn, withTurn } from "./start-order.ts";

export function WaitingView({ request: read }: { request: WaitingRequest }) {
  const { data } = useAnswer(explanation(read.id));
  // The reason and the pictures below are of one answer, so they name the same resource.
  const request = data?.request ?? read;
  const { id, holder, queuedAt, reason, labels, priority, space } = request;
  const turn = useTurn(request);
  const onTime = usePartOnTime(reason.pool ?? undefined);
  return (
    <>
      <PageHead title={holder} chip={<StateChip state="waiting" />}>
        <BumpButton request={request} place={turn?.place} />
        <ActionButton action={removeFromQueueAction(request, turn?.place)} />
      </PageHead>
      <p className="callout">
        <b>Why it waits</b> <Unbroken text={`${withTurn(reason.message, turn)}.`} />
      </p>
      <Figures label="The request in numbers" figures={figuresOf(request, turn, onTime)} />
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

/** The same as in the queue of its pool. */
function useTurn(request: WaitingRequest): Turn | undefined {
  const pool = request.reason.pool ?? request.items[0]?.pool;
  const { data } = useAnswer(queueOf(pool));
  const here = (data ?? []).filter(({ reason }) => reason.pool === null || reason.pool === pool);
  const elsewhere = useSeesAllSpaces() ? (data ?? []).length - here.length : 0;
  return turnsIn(here, elsewhere).get(request.id);
}

type OnTime = ReturnType<typeof usePartOnTime>;

function figuresOf(request: WaitingRequest, turn: Turn | undefined, onTime: OnTime): Figure[] {
  const position = positionThere(request);
  const place = turn?.place ?? position;
  return [
    {
      label: "Place in the queue",
      value: grouped(place),
      // `berth queue` has this one.
      aside: place === position ? "" : `by expected start; ${grouped(position)} by present shares`,
    },
    { label: "Waiting for", value: <Age since={request.queuedAt} /> },
    ...startFigures(request, turn?.place, onTime),
    ...firstFigure(request, onTime),
  ];
}

function startFigures(
  request: WaitingRequest,
  place: number | undefined,
  onTime: OnTime,
): Figure[] {
  const label = "Expected start";
  const { estimate } = request;
  if (estimate === null) {
    const { words, why } = noEstimateWords(request);
    const [value, because] = words.split(": ");
    return [{ label, value: <span title={why}>{value}</span>, aside: because }];
  }
  const { p50Seconds, p90Seconds, samples, exact } = estimate;
  if (exact) {
    const soon = p50Seconds < 1 ? startWords(estimate, place) : `in ${inWholeSeconds(p50Seconds)}`;
    return [{ label, value: soon, aside: "when a cooldown or a pace ends" }];
  }
  const paced = isPaced(request.reason.code);
  // Otherwise the pace and the position would seem to give another time.
  const mayOvertake = request.space !== undefined && paced;
  const by = paced ? "" : `from ${grouped(samples)} past leases`;
  if (isOverdue(request)) return [{ label, value: "later than estimated", aside: by }];
  if (onTime?.isPoor === true) {
    const kept = `only ${percent(onTime.onTime)} of this pool started within their estimate`;
    const aside = <span className="below">{kept}</span>;
    return [{ label, value: startWords(estimate, place), aside }];
  }
  return [
    {
      label,
      value: startWords(estimate, place),
      aside: mayOvertake ? "new requests may go first" : "",
    },
    { label: "9 in 10 start within", value: inWholeSeconds(p90Seconds), aside: by },
  ];
}

/** What it was told at first, for those who planned with it. It is late where the queue says so: after both times. */
function firstFigure(request: WaitingRequest, onTime: OnTime): Figure[] {
  const first = request.estimate?.first;
  if (first === undefined) return [];
  const isLate = isLaterThanEstimated(request);
  // Of a pool whose estimates run late, the time for 9 in 10 is none to plan with.
  if (onTime?.isPoor === true && !isLate) {
    return [{ label: "First estimate", value: <Moment at={first.p50At} /> }];
  }
  return [
    {
      label: "First estimate",
      value: (
        <>
          by <Moment at={first.p90At} />
        </>
      ),
      aside: (
        <span className="below">
          9 in 10{isLate ? ": late" : ""}; half by <Moment at={first.p50At} />
        </span>
      ),
      bad: isLate,
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
      <dl className="capacity">
        {quotas.map((quota) => (
          <CapacityLine
            key={quotaName(quota)}
            label={quotaName(quota)}
            used={quota.held}
            capacity={quota.max}
          />
        ))}
      </dl>
      {quotas.map((quota) => (
        <HoldersOfQuota key={quotaName(quota)} quota={quota} isAlone={quotas.length === 1} />
      ))}
    </section>
  );
}

/** `vcpus of lab-vsphere`. */
function quotaName({ dimension, pool }: Quota): string {
  return [dimension, pool].filter((part) => part !== null).join(" of ");
}

function HoldersOfQuota({ quota, isAlone }: { quota: Quota; isAlone: boolean }) {
  const { heldBy = [], cohort = null } = quota;
  if (heldBy.length === 0 && cohort === null) return null;
  return (
    <p className="aside-note">
      {isAlone ? "" : `${quotaName(quota)}: `}
      {heldBy.map(({ id, holder }, index) => (
        <span key={id}>
          {index === 0 ? "held by " : ", "}
          <Link href={at("leases", id)}>{holder}</Link>
        </span>
      ))}
      {cohort === null ? null : (
        <>
          {heldBy.length === 0 ? "" : "; "}
          cohort {cohort.name} uses {cohort.used} of {cohort.capacity}
        </>
      )}
    </p>
  );
}
