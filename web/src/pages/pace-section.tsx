import type { Pool } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, inWholeSeconds, inWords } from "../parts/times.tsx";
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
      <Throttled pool={pool} />
      <Opening pool={pool} left={left} />
      <PaceFacts pool={pool} />
      <RateHistory pool={pool} />
    </GateCard>
  );
}

/** What throttling costs now, in one line. */
function Throttled({ pool: { policy, flow } }: { pool: Pool }) {
  const { adaptive } = policy;
  const { rate, reports, pinned } = flow;
  if (adaptive?.mode !== "auto" || pinned !== null || rate === null) return null;
  if (rate >= adaptive.max || reports.throttled === 0) return null;
  return (
    <p className="callout">
      <b>Throttled.</b>
      {rateWords(rate)} of at most {rateWords(adaptive.max)} starts per minute, after{" "}
      {grouped(reports.throttled)} reports of throttling.
    </p>
  );
}

/** How much of the time between two grants is over. */
function Opening({ pool: { flow }, left }: { pool: Pool; left: number }) {
  const { everySeconds } = flow;
  if (everySeconds === null || left === 0) return null;
  const done = Math.min(1, Math.max(0, 1 - left / everySeconds));
  return (
    <span className="opening" aria-hidden="true">
      <span style={{ width: `${(done * 100).toFixed(0)}%` }} />
    </span>
  );
}

function PaceFacts({ pool: { name, policy, flow, waiting } }: { pool: Pool }) {
  const { everySeconds, rate, advisedRate, nextGrantBy, pinned, reports } = flow;
  const paced = everySeconds !== null;
  const reported = findsItsRate(policy) || reports.throttled + reports.ok > 0;
  const { adaptive } = policy;
  return (
    <Facts
      label="Pace"
      facts={[
        paced && ["One every", inWords(everySeconds)],
        paced && ["Starts per minute", rateWords(rate ?? 60 / everySeconds)],
        paced &&
          waiting > 0 && [
            `${grouped(waiting)} waiting take`,
            `about ${inWholeSeconds(waiting * everySeconds)} at this pace`,
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
