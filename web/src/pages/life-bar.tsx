import type { ReactNode } from "react";
import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { Lease } from "../../../src/api/schemas.ts";
import { useNowMs } from "../data/clock.ts";
import { inWords, Moment } from "../parts/times.tsx";
import { endOf, expiryOf } from "./lease-ends.ts";

/**
 * The life of a lease as one bar: how long it waited, how long it is held, and what is left. `heldUntil`: when it
 * gave back the last that it held, if it has nothing.
 */
export function LifeBar({ lease, heldUntil }: { lease: Lease; heldUntil: string | undefined }) {
  const now = useNowMs();
  const end = endOf(lease);
  const { queuedAt, grantedAt } = lease;
  const endsAt = end?.at ?? expiryOf(lease);
  return (
    <Life
      asked={queuedAt}
      granted={grantedAt}
      heldUntilMs={heldUntil === undefined ? now : Date.parse(heldUntil)}
      endMs={Math.max(now, endsAt === null ? now : Date.parse(endsAt))}
      end={
        endsAt === null ? (
          "ends with its release"
        ) : (
          <>
            {end === null ? "expires " : "ends "}
            <Moment at={endsAt} />
            {end === null ? " unless a heartbeat comes" : `: ${end.why}`}
          </>
        )
      }
    >
      {endsAt === null ? null : (
        <span>
          <i className="look-track" aria-hidden="true" />
          {end === null
            ? " left without a heartbeat"
            : end.why === "ended by an operator"
              ? " left for its job"
              : ` left: ${end.why}`}
        </span>
      )}
    </Life>
  );
}

interface PastProps {
  readonly entry: HistoryEntry;
  /** Later than the end of the entry, if what it held went back before. */
  readonly leaseEndedAt: string;
}

/** The same of a lease that has ended. */
export function PastLifeBar({ entry, leaseEndedAt }: PastProps) {
  const { grantedAt, endedAt, waitSeconds } = entry;
  if (grantedAt === null) return null;
  const asked = new Date(Date.parse(grantedAt) - (waitSeconds ?? 0) * 1_000).toISOString();
  const heldUntilMs = Date.parse(endedAt);
  return (
    <Life
      asked={asked}
      granted={grantedAt}
      heldUntilMs={heldUntilMs}
      endMs={Math.max(heldUntilMs, Date.parse(leaseEndedAt))}
      end={
        <>
          ended <Moment at={leaseEndedAt} />
        </>
      }
    />
  );
}

interface LifeProps {
  readonly asked: string;
  readonly granted: string;
  readonly heldUntilMs: number;
  readonly endMs: number;
  readonly end: ReactNode;
  readonly children?: ReactNode;
}

function Life({ asked, granted, heldUntilMs, endMs, end, children }: LifeProps) {
  const [askedMs, grantedMs] = [Date.parse(asked), Date.parse(granted)];
  const whole = Math.max(1, endMs - askedMs);
  const part = (ms: number) => `${(Math.max(0, ms) / whole) * 100}%`;
  return (
    <figure className="life">
      <div className="bar" aria-hidden="true">
        <span className="look-waited" style={{ flexBasis: part(grantedMs - askedMs) }} />
        <span className="look-held" style={{ flexBasis: part(heldUntilMs - grantedMs) }} />
      </div>
      <figcaption>
        <span>
          asked <Moment at={asked} />
        </span>
        <span>{end}</span>
      </figcaption>
      <p className="legend">
        <span>
          <i className="look-waited" aria-hidden="true" /> waited{" "}
          {inWords((grantedMs - askedMs) / 1_000)}
        </span>
        <span>
          <i className="look-held" aria-hidden="true" /> held since <Moment at={granted} />
        </span>
        {children}
      </p>
    </figure>
  );
}
