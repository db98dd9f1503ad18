import type { Lease } from "../../../src/api/schemas.ts";
import { useNowMs } from "../data/clock.ts";
import { clockTime } from "../parts/clock-time.ts";
import { inWords, Moment } from "../parts/times.tsx";

/** The life of a lease as one bar: how long it waited, how long it is held, and what is left. */
export function LifeBar({ lease }: { lease: Lease }) {
  const now = useNowMs();
  const [asked, granted] = [Date.parse(lease.queuedAt), Date.parse(lease.grantedAt)];
  const end = lease.endsAt === null ? now : Math.max(now, Date.parse(lease.endsAt));
  const whole = Math.max(1, end - asked);
  const part = (ms: number) => `${(Math.max(0, ms) / whole) * 100}%`;
  return (
    <figure className="life">
      <div className="bar" aria-hidden="true">
        <span className="look-waiting" style={{ flexBasis: part(granted - asked) }} />
        <span className="look-held" style={{ flexBasis: part(now - granted) }} />
      </div>
      <figcaption>
        <span>
          asked <Moment at={lease.queuedAt} />
        </span>
        <span>
          {lease.endsAt === null ? `now ${clockTime(now)}` : "ends "}
          {lease.endsAt === null ? null : <Moment at={lease.endsAt} />}
        </span>
      </figcaption>
      <p className="legend">
        <span>
          <i className="look-waiting" aria-hidden="true" /> waited {inWords(lease.waitedSeconds)}
        </span>
        <span>
          <i className="look-held" aria-hidden="true" /> held since <Moment at={lease.grantedAt} />
        </span>
        {lease.endsAt === null ? null : (
          <span>
            <i className="look-track" aria-hidden="true" /> left of its max lifetime
          </span>
        )}
      </p>
    </figure>
  );
}
