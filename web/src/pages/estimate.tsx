import { isLaterThanEstimated, isOverdue } from "../../../src/api/late-estimate.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { accuracy } from "../data/questions.ts";
import { clockTime } from "../parts/clock-time.ts";
import { grouped, percent } from "../parts/numbers.ts";
import { Age, inWholeSeconds, inWords } from "../parts/times.tsx";
import { afterWords, noEstimateWords, startWords } from "./estimate-words.ts";
import type { Turn } from "./start-order.ts";

interface Props {
  readonly request: WaitingRequest;
  /** Undefined if it waits for another pool first. */
  readonly turn: Turn | undefined;
}

/** When the request will probably be granted, and whether that is later than was said at first. */
export function Estimate({ request, turn }: Props) {
  const first = request.estimate?.first;
  const isLate = isLaterThanEstimated(request);
  const by =
    first === undefined || !isLate ? null : (
      <span className="late unbroken" title={`First expected by ${clockTime(first.p90At)}`}>
        late by <Age since={first.p90At} />
      </span>
    );
  if (isOverdue(request)) return by ?? <span className="late">later than estimated</span>;
  const now = <Now {...{ request, turn }} isLate={by !== null} />;
  return by === null ? (
    now
  ) : (
    <>
      {now} {by}
    </>
  );
}

function Now({ request, turn, isLate }: Props & { readonly isLate: boolean }) {
  const { estimate, space, reason } = request;
  const isPoor = usePartOnTime(reason.pool ?? undefined)?.isPoor ?? false;
  if (estimate === null && turn?.isNew === true) {
    return (
      <span className="faint" title="No time is computed for it yet">
        {afterWords(turn.place)}
      </span>
    );
  }
  if (estimate === null) {
    const { words, why } = noEstimateWords(request);
    return (
      <span className="faint" title={why}>
        {words}
      </span>
    );
  }
  const { p50Seconds, p90Seconds, samples, exact } = estimate;
  const soon = startWords(estimate, turn?.place);
  // Where estimates run late, and of one that is late itself, nothing is promised.
  const within = isLate || isPoor ? "" : `9 in 10 within ${inWholeSeconds(p90Seconds)}`;
  if (p90Seconds < 1) return <span>{soon}</span>;
  if (exact && p50Seconds >= 1) {
    return (
      <span title="It starts when a cooldown or a pace ends, unless a new request goes before it: of a higher priority, or of a space with a lower share">
        in {space === undefined && !isPoor ? "" : "about "}
        {inWholeSeconds(p50Seconds)}
      </span>
    );
  }
  return (
    <span title={`Simulated with the real rules, from ${samples} recorded holds`}>
      {soon}
      {within === "" ? "" : ", "}
      <span className="faint unbroken">{within}</span>
    </span>
  );
}

/** With fewer, the accuracy would mean nothing. */
const comparedMin = 20;
/** 9 in 10 is the aim. Below this, people must not count on the times. */
const poorPart = 0.75;

/** How many requests started within their estimate, of a pool or of all; undefined: too few are known. */
export function usePartOnTime(pool: string | undefined) {
  const { data } = useAnswer(accuracy);
  const all = pool === undefined ? data?.total : data?.pools.find((one) => one.pool === pool);
  const known = all?.latest ?? all;
  if (known === undefined || known.compared < comparedMin) return undefined;
  const onTime = known.withinP90 / known.compared;
  return { ...known, onTime, isPoor: onTime < poorPart };
}

/** Why no row of this queue says by when 9 in 10 start. */
export function LateEstimates({ pool }: { pool: string }) {
  const known = usePartOnTime(pool);
  if (known?.isPoor !== true) return null;
  return <>, {percent(known.onTime)} started within their estimate</>;
}

/** How accurate earlier estimates were. With a pool: only a warning, if those of the pool were poor. */
export function EstimateAccuracyNote({ pool }: { pool?: string }) {
  const known = usePartOnTime(pool);
  if (known === undefined || (pool !== undefined && !known.isPoor)) return null;
  const { compared, withinP50, meanErrorSeconds, onTime, isPoor } = known;
  return (
    <p className={isPoor ? "aside-note late-note" : "aside-note"}>
      {isPoor ? "Estimates run late: " : ""}
      {percent(onTime)} of the last {grouped(compared)} requests that waited started within their
      estimate; the aim is 90 %.{" "}
      <span
        className="faint optional"
        title={`${percent(withinP50 / compared)} started by the expected time; half should`}
      >
        The expected start was off by {inWords(meanErrorSeconds)} on average.
      </span>
    </p>
  );
}
