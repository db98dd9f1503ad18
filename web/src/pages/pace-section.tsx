import type { Pool } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, inWholeSeconds, inWords, Left } from "../parts/times.tsx";
import { at } from "../router.ts";
import { findsItsRate, hasPace, rateWords } from "./flow-facts.ts";
import { GateCard } from "./gate-card.tsx";
import { PinButtons } from "./pin-buttons.tsx";
import { RateHistory } from "./rate-history.tsx";

/** How fast the pool lends, and when the next grant is possible. */
export function PaceSection({ pool }: { pool: Pool }) {
  const { nextGrantAt } = pool.flow;
  const left = useInTime((nowMs) =>
    nextGrantAt === null ? 0 : Math.ceil(Math.max(0, Date.parse(nextGrantAt) - nowMs) / 1_000),
  );
  if (!hasPace(pool)) return null;
  const words = left === 0 ? "open" : `next grant in ${inWholeSeconds(left)}`;
  return (
    <GateCard
      title="Pace"
      status={{ open: left === 0, words }}
      buttons={<PinButtons pool={pool} />}
      wide={findsItsRate(pool.policy) || pool.flow.pinned !== null}
    >
      <Opening pool={pool} left={left} />
      <PaceFacts pool={pool} />
      <RateHistory pool={pool} />
    </GateCard>
  );
}

/** How much of the time between two grants is over. */
function Opening({ pool: { flow }, left }: { pool: Pool; left: number }) {
  const { everySeconds } = flow;
  if (everySeconds === null) return null;
  const done = Math.min(1, Math.max(0, 1 - left / everySeconds));
  return (
    <span className="opening" aria-hidden="true">
      <span style={{ width: `${(done * 100).toFixed(0)}%` }} />
    </span>
  );
}

function PaceFacts({ pool: { name, policy, flow } }: { pool: Pool }) {
  const { everySeconds, rate, advisedRate, nextGrantAt, nextGrantBy, pinned, reports } = flow;
  const paced = everySeconds !== null;
  const reported = findsItsRate(policy) || reports.throttled + reports.ok > 0;
  const { adaptive } = policy;
  return (
    <Facts
      label="Pace"
      facts={[
        paced && ["One every", inWords(everySeconds)],
        paced && ["Starts per minute", rateWords(rate ?? 60 / everySeconds)],
        (paced || nextGrantAt !== null) && [
          "Next grant in",
          nextGrantAt === null ? "now" : <Left key="next" until={nextGrantAt} />,
        ],
        nextGrantBy !== null &&
          nextGrantBy !== name && [
            "Because of",
            <Link key="by" href={at("pools", nextGrantBy)}>
              {nextGrantBy}
            </Link>,
          ],
        findsItsRate(policy) &&
          adaptive !== null && [
            "Found by reports",
            `between ${rateWords(adaptive.min)} and ${rateWords(adaptive.max)} per minute`,
          ],
        advisedRate !== null && ["Advised", `${rateWords(advisedRate)} per minute`],
        pinned && [
          "Pinned",
          <>
            {pinned.by === "" ? "" : `by ${pinned.by}, `}
            <Age since={pinned.at} /> ago
            {pinned.why === "" ? "" : `: ${pinned.why}`}
          </>,
        ],
        reported && [
          "Reports",
          `${grouped(reports.throttled)} throttled, ${grouped(reports.ok)} OK`,
        ],
      ]}
    />
  );
}
