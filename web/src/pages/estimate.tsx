import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { accuracy } from "../data/questions.ts";
import { grouped, percent } from "../parts/numbers.ts";
import { inWords } from "../parts/times.tsx";

/** When it is likely to start. `unknown` is said plainly: a guess from too little is no estimate. */
export function Estimate({ request }: { request: WaitingRequest }) {
  const { estimate } = request;
  if (estimate === null) return <span className="faint">unknown: too few holds recorded</span>;
  const { p50Seconds, p90Seconds, samples } = estimate;
  // Its time has come, or is over: to promise it within no time at all would be no estimate.
  if (p90Seconds < 1) return <span>any moment</span>;
  const soon = p50Seconds < 1 ? "any moment" : `in about ${inWords(p50Seconds)}`;
  return (
    <span title={`From ${samples} recorded holds, with the real rules run forward`}>
      {soon}
      <span className="faint">, 9 in 10 within {inWords(p90Seconds)}</span>
    </span>
  );
}

/** Fewer say nothing about the next one. */
const comparedMin = 20;

/** How far estimates can be trusted: what they said before, beside what happened then. */
export function EstimateAccuracyNote() {
  const { data } = useAnswer(accuracy);
  if (data === undefined || data.total.compared < comparedMin) return null;
  const { compared, withinP50, withinP90, meanErrorSeconds } = data.total;
  return (
    <p className="aside-note">
      Estimates so far: {percent(withinP50 / compared)} started by the time named as even odds (50 %
      would be right), {percent(withinP90 / compared)} by the time named for 9 in 10. Off by{" "}
      {inWords(meanErrorSeconds)} on average, over {grouped(compared)} requests.
    </p>
  );
}
