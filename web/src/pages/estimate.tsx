import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { accuracy } from "../data/questions.ts";
import { grouped, percent } from "../parts/numbers.ts";
import { inWholeSeconds, inWords } from "../parts/times.tsx";

/** When the request will probably be granted. */
export function Estimate({ request }: { request: WaitingRequest }) {
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
  // The estimated time has passed.
  if (p90Seconds < 1) return <span>any moment</span>;
  if (exact) {
    return (
      <span title="It follows from the rules of the pool and from no recorded hold">
        in {inWholeSeconds(p50Seconds)}
        <span className="faint">, when a cooldown or a pace ends</span>
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

/** How accurate earlier estimates were. */
export function EstimateAccuracyNote() {
  const { data } = useAnswer(accuracy);
  if (data === undefined || data.total.compared < comparedMin) return null;
  const { compared, withinP50, withinP90, meanErrorSeconds } = data.total;
  return (
    <p className="aside-note">
      P50 estimates were right {percent(withinP50 / compared)} of the time (target 50 %), P90
      estimates {percent(withinP90 / compared)} (target 90 %). Mean error{" "}
      {inWords(meanErrorSeconds)}, over {grouped(compared)} requests.
    </p>
  );
}
