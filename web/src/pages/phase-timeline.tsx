import type { ClusterPlan } from "../../../src/api/cluster-schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { useNowMs } from "../data/clock.ts";
import { lookOf, stateName } from "../parts/state-look.ts";
import { inWords, Moment } from "../parts/times.tsx";
import { phasesOf } from "./cluster-phases.ts";

interface Props {
  readonly name: string;
  /** About the cluster, the newest first. */
  readonly events: readonly FeedEvent[];
  readonly usual: ClusterPlan["usualSeconds"] | undefined;
}

/** The phases of a cluster one after the other, on one time line, each with its time and the usual time. */
export function PhaseTimeline({ name, events, usual }: Props) {
  const now = useNowMs();
  const spans = phasesOf(name, events);
  if (spans.length === 0) return null;
  const secondsOf = ({ state, from, to }: (typeof spans)[number]) => {
    const endMs = to === null ? now : Date.parse(to);
    return state === "gone" ? 0 : Math.max(0, (endMs - Date.parse(from)) / 1_000);
  };
  const startOf = ({ from }: (typeof spans)[number]) =>
    (Date.parse(from) - Date.parse(spans[0]?.from ?? from)) / 1_000;
  // There is room for the usual time of a phase that goes on.
  const ends = spans.map((span) => {
    const usualEnd = span.to === null ? (usualOf(usual, span.state) ?? 0) : 0;
    return startOf(span) + Math.max(secondsOf(span), usualEnd);
  });
  const part = (seconds: number) => `${(seconds / Math.max(1, ...ends)) * 100}%`;
  return (
    <section aria-labelledby="phases-title">
      <h2 id="phases-title">Phases</h2>
      <ol className="phases">
        {spans.map((span) => (
          <li
            key={`${span.state} ${span.from}`}
            className={span.to === null && span.state !== "gone" ? "now" : undefined}
          >
            <b>{stateName(span.state)}</b>
            <Moment at={span.from} />
            <span className={`phase-length look-${lookOf(span.state)}`} aria-hidden="true">
              <span style={{ marginLeft: part(startOf(span)), width: part(secondsOf(span)) }} />
            </span>
            <Took seconds={secondsOf(span)} usual={usualOf(usual, span.state)} state={span.state} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function usualOf(usual: Props["usual"], state: string): number | null {
  return usual === undefined || !(state in usual) ? null : usual[state as keyof typeof usual];
}

/** A phase that takes half as long again as usual is worth a look. */
const lateFactor = 1.5;

function Took({ seconds, usual, state }: { seconds: number; usual: number | null; state: string }) {
  if (state === "gone") return <span className="faint">removed</span>;
  const late = usual !== null && seconds > usual * lateFactor;
  return (
    <span className={late ? "took late" : "took"}>
      {inWords(Math.round(seconds))}
      {usual === null ? null : (
        <small className="faint"> usually {inWords(Math.round(usual))}</small>
      )}
    </span>
  );
}
