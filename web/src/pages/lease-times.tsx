/** The heartbeat and the end of a lease, as text with a bar. */
import type { Lease } from "../../../src/api/schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { useInTime } from "../data/clock.ts";
import { clockTime } from "../parts/clock-time.ts";
import { TimeBar } from "../parts/time-bar.tsx";
import { exact, useLeft } from "../parts/times.tsx";
import {
  endOf,
  expiryBefore,
  expiryOf,
  hasBeaten,
  missedPart,
  nextBeatWords,
  pulseOf,
  silenceAt,
  silentPart,
} from "./lease-ends.ts";

/** Steps of the bars: a bar of a day would otherwise be drawn again every second. */
const steps = 50;
/** The end of its max lifetime is near when this part is left: its job will fail. */
const nearPart = 0.1;

/** The part of its heartbeat timeout that is over, and whether that is too much. */
export function useSilence(lease: Lease): { readonly part: number; readonly isSilent: boolean } {
  const pulse = pulseOf(lease);
  const part = useInTime((nowMs) => Math.round(silenceAt(pulse, nowMs) * steps) / steps);
  return { part, isSilent: part >= silentPart };
}

/** `42s ago` and `due in 38s`; `none yet` before the first, `one missed` if it is late. */
export function useHeartbeat(lease: Lease) {
  const pulse = pulseOf(lease);
  const hasCome = pulse !== null && hasBeaten(pulse, lease.grantedAt);
  const last = useInTime((nowMs) => {
    if (!hasCome) return "none yet";
    return `${roughDuration(Math.max(0, nowMs - pulse.lastMs))} ago`;
  });
  const next = useInTime((nowMs) => (pulse === null ? "" : nextBeatWords(pulse, nowMs)));
  return { last, next };
}

/** `42s ago · due in 38s`: the last heartbeat and the next. */
export function Heartbeat({ lease }: { lease: Lease }) {
  const { part, isSilent } = useSilence(lease);
  const { last, next } = useHeartbeat(lease);
  if (pulseOf(lease) === null) {
    return <span className="faint">{lease.revokedAt === null ? "none needed" : "–"}</span>;
  }
  // The bar of the end stands beside it, and is read the other way round.
  return (
    <span
      className={isSilent ? "time-cell late" : "time-cell"}
      title={`It expires after ${lease.ttl} without a heartbeat`}
    >
      <span>
        {last} <small className={part >= missedPart ? "late" : "faint"}>· {next}</small>
      </span>
      {isSilent ? <TimeBar part={part} late /> : null}
    </span>
  );
}

/** `in 2m13s`, or `now`. */
function InTime({ until }: { until: string }) {
  const left = useLeft(until);
  return (
    <time dateTime={until} title={exact(until)}>
      {left === "now" ? left : `in ${left}`}
    </time>
  );
}

/** `, or at 14:51:29 without a heartbeat`. */
function orExpires(lease: Lease): string {
  const expiresAt = expiryOf(lease);
  return expiresAt === null ? "" : `, or at ${clockTime(expiresAt)} without a heartbeat`;
}

/** What ends it first, and when: `in 2m13s, max lifetime`. */
export function Ends({ lease }: { lease: Lease }) {
  const { isSilent } = useSilence(lease);
  const end = endOf(lease);
  const expiresAt = expiryBefore(end, lease);
  const [fromMs, atMs] = [Date.parse(end?.from ?? ""), Date.parse(end?.at ?? "")];
  const part = useInTime((nowMs) =>
    end === null ? 0 : Math.round(((nowMs - fromMs) / Math.max(1, atMs - fromMs)) * steps) / steps,
  );
  if (isSilent && expiresAt !== null) {
    return (
      <span className="time-cell late" title={exact(expiresAt)}>
        <span>
          <InTime until={expiresAt} /> <small>no heartbeat</small>
        </span>
      </span>
    );
  }
  if (end === null) {
    return (
      <span className="faint" title={`It ends when its holder releases it${orExpires(lease)}`}>
        on release
      </span>
    );
  }
  const isNear = part >= 1 - nearPart;
  return (
    <span className={isNear ? "time-cell late" : "time-cell"}>
      <span>
        <InTime until={end.at} /> <small className="faint">{end.why}</small>
      </span>
      <TimeBar part={part} late={isNear} />
    </span>
  );
}
