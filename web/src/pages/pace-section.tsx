import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import { waitsTooLong } from "../data/pool-troubles.ts";
import { useAnswer } from "../data/query.ts";
import { queueOf, rateHistoryOf, statsOf } from "../data/questions.ts";
import { usePoolTroubles } from "../data/troubles.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, inWholeSeconds, inWords, Moment } from "../parts/times.tsx";
import { at } from "../router.ts";
import {
  backlogSeconds,
  expectsOthers,
  findsItsRate,
  hasPace,
  isPaced,
  lastCut,
  lastUnpin,
  rateWords,
  riseWords,
  roughRate,
  secondsToGrant,
  throttlingOf,
} from "./flow-facts.ts";
import { GateCard, type GateStatus } from "./gate-card.tsx";
import { PinButtons } from "./pin-buttons.tsx";
import { RateHistory } from "./rate-history.tsx";

/** How fast the pool lends, and when the next grant is possible. */
export function PaceSection({ pool }: { pool: Pool }) {
  const { nextGrantAt, everySeconds } = pool.flow;
  const left = useInTime((nowMs) =>
    nextGrantAt === null ? 0 : secondsToGrant(Date.parse(nextGrantAt) - nowMs, everySeconds),
  );
  const { data: queue = [] } = useAnswer(queueOf(pool.name));
  if (!hasPace(pool)) return null;
  const paced = queue.filter(({ reason }) => isPaced(reason.code));
  return (
    <GateCard
      title="Pace"
      status={statusOf(left, paced.length, countsOf(pool).waiting)}
      buttons={<PinButtons pool={pool} />}
      wide={findsItsRate(pool.policy) || pool.flow.pinned !== null}
    >
      {paced.length === 0 ? null : <Backlog pool={pool} queue={queue} />}
      <PaceFacts pool={pool} />
      <RateHistory pool={pool} />
    </GateCard>
  );
}

function statusOf(left: number, paced: number, waiting: number): GateStatus {
  if (left > 0) return { open: paced === 0, words: `next grant in ${inWholeSeconds(left)}` };
  return { open: true, words: waiting === 0 ? "open: nobody waits" : "open" };
}

/** When the queue is through at this pace, and what throttling has to do with it. */
function Backlog({ pool, queue }: { pool: Pool; queue: readonly WaitingRequest[] }) {
  const { adaptive } = pool.policy;
  const findsIt = adaptive?.mode === "auto";
  // A rate that finds itself is another one in a moment: a time at the rate of now would mislead.
  const seconds = findsIt ? null : backlogSeconds(queue, pool.flow.everySeconds);
  const isLate = waitsTooLong(pool.name, usePoolTroubles());
  const isCut = findsIt && throttlingOf(pool.flow.rate, adaptive.max) === "throttled";
  return (
    <p className={isCut || isLate ? "callout" : "gate-lead"}>
      <b>
        {grouped(queue.length)} {queue.length === 1 ? "waits" : "wait"}
        {seconds === null ? "" : `; the last starts in about ${inWholeSeconds(seconds)}`}
        {expectsOthers(queue, pool, seconds)
          ? ", as new requests of other spaces may go first"
          : ""}
        .
      </b>{" "}
      {findsIt ? <Throttled pool={pool} rate={pool.flow.rate} max={adaptive.max} /> : null}
    </p>
  );
}

interface ThrottledProps {
  readonly pool: Pool;
  readonly rate: number | null;
  readonly max: number;
}

/** The reports are counted below, and each cut has its row there: several reports may make one cut. */
function Throttled({ pool: { name, flow }, rate, max }: ThrottledProps) {
  const { data } = useAnswer(rateHistoryOf(name));
  const cut = lastCut(data?.changes ?? []);
  const unpin = lastUnpin(data?.changes ?? []);
  const throttling = throttlingOf(rate, max);
  if (flow.pinned !== null) return <>The rate is pinned.</>;
  if (unpin !== undefined && rate !== null && throttling !== undefined) {
    return (
      <>
        Rising since it was unpinned at <Moment at={unpin.at} />: {roughRate(rate)} of at most{" "}
        {rateWords(max)} starts per minute.
      </>
    );
  }
  if (cut === undefined || rate === null || throttling === undefined) return null;
  return (
    <>
      {throttling === "throttled" ? "Throttled" : "Recovering"}: {roughRate(rate)} of at most{" "}
      {rateWords(max)} starts per minute. The last cut was at <Moment at={cut.at} />.
    </>
  );
}

const latelySeconds = 300;
const lastMinutes = { lengthSeconds: latelySeconds, stepSeconds: latelySeconds, until: null };

/** What was asked for and started, to compare with the pace. */
function Lately({ pool }: { pool: string }) {
  const { data } = useAnswer(statsOf(pool, lastMinutes));
  if (data === undefined) return "–";
  const perMinute = (count: number) => roughRate((count * 60) / latelySeconds);
  const { asked, granted } = data.total;
  return `${perMinute(asked)} asked, ${perMinute(granted)} started per minute`;
}

function PaceFacts({ pool: { name, policy, flow } }: { pool: Pool }) {
  const { everySeconds, rate, advisedRate, nextGrantBy, pinned, reports } = flow;
  const reported = findsItsRate(policy) || reports.throttled + reports.ok > 0;
  const { adaptive, pace } = policy;
  return (
    <Facts
      label="Pace"
      facts={[
        everySeconds !== null && [
          "One every",
          `${inWords(everySeconds)}, ${roughRate(rate ?? 60 / everySeconds)} per minute`,
        ],
        pace !== null && pace.burst > 1 && ["Burst", `up to ${grouped(pace.burst)} at once`],
        everySeconds !== null && ["Last 5 minutes", <Lately key="lately" pool={name} />],
        nextGrantBy !== null &&
          nextGrantBy !== name && [
            "Because of",
            <Link key="by" href={at("pools", nextGrantBy)}>
              {nextGrantBy}
            </Link>,
          ],
        findsItsRate(policy) && adaptive !== null && ["Adaptive", adaptiveWords(adaptive)],
        findsItsRate(policy) && adaptive !== null && ["Rises", riseWords(adaptive)],
        advisedRate !== null && ["Advised", `${roughRate(advisedRate)} per minute`],
        pinned && [
          "Pinned",
          <>
            {pinned.by === "" ? "" : `by ${pinned.by}, `}
            <Age since={pinned.at} /> ago
            {pinned.why === "" ? "" : `: ${pinned.why}`}
          </>,
        ],
        reported && [
          "Reports, since the pool was added",
          `${reportsWords(reports)}${cutsWords(adaptive)}`,
        ],
      ]}
    />
  );
}

type Adaptive = NonNullable<Pool["policy"]["adaptive"]>;

function adaptiveWords({ mode, min, max }: Adaptive): string {
  const does = mode === "auto" ? "finds its own rate" : "advises a rate";
  return `${does} between ${rateWords(min)} and ${rateWords(max)} per minute, from the throttling that jobs report`;
}

/** Many jobs report nothing but throttling: that says nothing about the others. */
function reportsWords({ throttled, ok }: Pool["flow"]["reports"]): string {
  return `${grouped(throttled)} throttled${ok === 0 ? "" : `, ${grouped(ok)} OK`}`;
}

/** Why there are fewer cuts than reports of throttling. */
function cutsWords(adaptive: Adaptive | null): string {
  return adaptive?.mode === "auto" ? ` (at most one cut per ${adaptive.cutEvery})` : "";
}
