import { isLaterThanEstimated, isOverdue } from "../../../src/api/late-estimate.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { accuracy } from "../data/questions.ts";
import { clockTime } from "../parts/clock-time.ts";
import { grouped, percent } from "../parts/numbers.ts";
import { inWholeSeconds, inWords } from "../parts/times.tsx";

/** When the request will probably be granted, and whether that is later than was said at first. */
export function Estimate({ request }: { request: WaitingRequest }) {
  const first = request.estimate?.first;
  if (isOverdue(request)) return <span className="late">later than estimated</span>;
  if (first === undefined || !isLaterThanEstimated(request)) return <Now request={request} />;
  return (
    <>
      <Now request={request} />
      <small className="late" title={`First expected by ${clockTime(first.p90At)}`}>
        {" "}
        late
      </small>
    </>
  );
}

function Now({ request }: { request: WaitingRequest }) {
  const { estimate } = request;
  if (estimate === null) {
    const why =
      "Fewer than 10 holds of its pool are recorded, or no resource is known to become free for it";
    return (
      <span className="faint" title={why}>
        unknown so far
      </span>
    );
  }
  const { p50Seconds, p90Seconds, samples, exact } = estimate;
  if (p90Seconds < 1) return <span>any moment</span>;
  if (exact) {
    return (
      <span title="It starts when a cooldown or a pace ends, unless a new request goes before it: of a higher priority, or of a space with a lower share">
        in {inWholeSeconds(p50Seconds)}
        <span className="faint">, unless overtaken</span>
      </span>
    );
  }
  const soon = p50Seconds < 1 ? "any moment" : `in about ${inWholeSeconds(p50Seconds)}`;
  return (
    <span title={`Simulated with the real rules, from ${samples} recorded holds`}>
      {soon}
      <span className="faint">, 9 in 10 within {inWholeSeconds(p90Seconds)}</span>
    </span>
  );
}

/** With fewer, the accuracy would mean nothing. */
const comparedMin = 20;
/** 9 in 10 is the aim. Below this, people must not count on the times. */
const poorPart = 0.75;

/** How accurate earlier estimates were. With a pool: only a warning, if those of the pool were poor. */
export function EstimateAccuracyNote({ pool }: { pool?: string }) {
  const { data } = useAnswer(accuracy);
  const known = pool === undefined ? data?.total : data?.pools.find((one) => one.pool === pool);
  if (known === undefined || known.compared < comparedMin) return null;
  const { compared, withinP50, withinP90, meanErrorSeconds } = known;
  const onTime = withinP90 / compared;
  if (pool !== undefined && onTime >= poorPart) return null;
  const isPoor = onTime < poorPart;
  return (
    <p className={isPoor ? "aside-note late-note" : "aside-note"}>
      {isPoor ? "Estimates run late: " : ""}
      {percent(onTime)} {isPoor ? "" : "of the requests "}
      started within the promised time (aim: 90 %).{" "}
      <span
        className="faint optional"
        title={`${percent(withinP50 / compared)} started by the expected time; half should`}
      >
        The expected start was off by {inWords(meanErrorSeconds)} on average, over{" "}
        {grouped(compared)} requests.
      </span>
    </p>
  );
}
