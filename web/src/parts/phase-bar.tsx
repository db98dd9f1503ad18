import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import { useInTime } from "../data/clock.ts";
import { percentOfTime } from "./numbers.ts";
import { lookOf } from "./state-look.ts";
import { usualTime } from "./time-words.ts";
import { Age } from "./times.tsx";

/** When a phase began, and how long it usually takes. */
type PhaseTimes = Pick<Cluster["phase"], "since" | "usualSeconds">;

type Timed = Pick<Cluster, "progress" | "state"> & { readonly phase: PhaseTimes };

/** The part of the phase that is done: as the driver says, or by the usual time. */
export function PhaseBar({ cluster }: { cluster: Timed }) {
  const { phase, progress, state } = cluster;
  const { since, usualSeconds } = phase;
  const byTime = useInTime((nowMs) =>
    usualSeconds === null ? 0 : percentOfTime(nowMs - Date.parse(since), usualSeconds),
  );
  const share = progress === null ? byTime : Math.round(progress * 100);
  if (progress === null && usualSeconds === null) return null;
  const how = progress === null ? "of the usual time" : "done, as its driver says";
  const isLate = progress === null && share >= 100;
  return (
    <span
      className={isLate ? "phase-bar late" : `phase-bar look-${lookOf(state)}`}
      role="img"
      aria-label={`${share} % ${how}`}
      title={`${share} % ${how}`}
    >
      <span style={{ width: `${share}%` }} />
    </span>
  );
}

/** `50 %` beside the bar, if its driver says so: the time beside it would not explain its length. */
export function Reported({ progress }: Pick<Cluster, "progress">) {
  if (progress === null) return null;
  return <small className="reported">{Math.round(progress * 100)} %</small>;
}

/** `3m12s, usually 5m`. */
export function PhaseTime({ phase }: { readonly phase: PhaseTimes }) {
  return (
    <>
      <Age since={phase.since} />
      {phase.usualSeconds === null ? null : (
        <span className="faint">, usually {usualTime(phase.usualSeconds)}</span>
      )}
    </>
  );
}
