import type { Pool } from "../../../src/api/schemas.ts";
import { CapacityLine } from "../parts/capacity-bars.tsx";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, inWords, Left } from "../parts/times.tsx";
import { at } from "../router.ts";
import { findsItsRate, hasFlow, rateWords } from "./flow-facts.ts";
import { PinButtons } from "./pin-buttons.tsx";
import { RateHistory } from "./rate-history.tsx";

/** The pace and the limits of a pool that has any. */
export function FlowSection({ pool }: { pool: Pool }) {
  if (!hasFlow(pool)) return null;
  const { limits } = pool.flow;
  return (
    <section aria-labelledby="flow-title" className="flow">
      <div className="tools">
        <h2 id="flow-title">Pace and limit</h2>
        <PinButtons pool={pool} />
      </div>
      <FlowFacts pool={pool} />
      {limits.length === 0 ? null : (
        <dl className="capacity" aria-label="Limits">
          {limits.map(({ pool: name, used, limit }) => (
            <CapacityLine
              key={name}
              label={
                name === pool.name ? "This pool" : <Link href={at("pools", name)}>{name}</Link>
              }
              used={used}
              capacity={limit}
            />
          ))}
        </dl>
      )}
      <RateHistory pool={pool} />
    </section>
  );
}

function FlowFacts({ pool: { name, policy, flow } }: { pool: Pool }) {
  const { everySeconds, rate, advisedRate, nextGrantAt, nextGrantBy, pinned, reports } = flow;
  const paced = everySeconds !== null;
  const reported = findsItsRate(policy) || reports.throttled + reports.ok > 0;
  return (
    <Facts
      label="Pace"
      facts={[
        paced && ["One every", inWords(everySeconds)],
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
        paced && ["Starts per minute", rateWords(rate ?? 60 / everySeconds)],
        advisedRate !== null && ["Advised", `${rateWords(advisedRate)} per minute`],
        pinned && [
          "Pinned",
          <>
            by {pinned.by}, <Age since={pinned.at} /> ago
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
