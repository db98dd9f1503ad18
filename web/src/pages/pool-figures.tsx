import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { checkFails, type PoolTroubles, waitsTooLong } from "../data/pool-troubles.ts";
import type { Figure } from "../parts/figures.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { Age, inWholeSeconds, inWords } from "../parts/times.tsx";
import { at } from "../router.ts";
import { admissionWord, waitingForAdmission } from "./admission-facts.ts";
import { andMore, clustersNotReady, coolingIn, hibernatedIn, outOf } from "./pool-facts.ts";
import { queueFacts } from "./queue-facts.ts";

interface Queue {
  readonly requests: readonly WaitingRequest[];
  /** Others of other spaces may wait that the reader does not see. */
  readonly isWhole: boolean;
}

/** The numbers of a pool above all that explains them. */
export function figuresOf(pool: Pool, queue: Queue, troubles: PoolTroubles): Figure[] {
  const { waiting } = countsOf(pool);
  return [
    ...(pool.usage === undefined ? countFigures(pool) : amountFigures(pool, pool.usage)),
    ...admissionFigure(pool, queue.requests, troubles),
    { label: "Waiting", value: waiting, ...(waiting > 0 && { href: "#queue-title" }) },
    { label: "Longest wait", bad: waitsTooLong(pool.name, troubles), ...longestWait(pool, queue) },
    { label: "Mean hold", value: inWords(pool.meanHoldSeconds) },
  ];
}

/** The request that waits longest is often not among the first of the queue. */
function longestWait(pool: Pool, { requests, isWhole }: Queue): Pick<Figure, "value" | "href"> {
  const { oldest } = queueFacts(requests, () => false);
  return isWhole && oldest !== undefined
    ? { value: <Age since={oldest.queuedAt} />, href: at("requests", oldest.id) }
    : { value: inWholeSeconds(countsOf(pool).oldestWaitSeconds) };
}

/** Always there, so that the figures stay in their places. The card below has the reason. */
function admissionFigure(
  { name, admission }: Pool,
  queue: readonly WaitingRequest[],
  troubles: PoolTroubles,
): Figure[] {
  if (admission === null) return [];
  const waiting = waitingForAdmission(queue, name).length;
  const word = admissionWord(admission, waiting, serverNowMs());
  return [{ label: "Admission", ...word, bad: checkFails(name, troubles) }];
}

function countFigures(pool: Pool): Figure[] {
  const { total, held, free } = countsOf(pool);
  const isMade = pool.template !== undefined;
  const whole = pool.limit !== undefined ? "Limit" : isMade ? "Clusters" : "Resources";
  // Shares of a pool that can make more are of all it may have, so this says what it is of.
  const base = isMade ? ` of ${grouped(total)}` : "";
  const aside = total === 0 ? "" : `${percent(held / total)}${base}`;
  return [
    { label: whole, value: total },
    { label: "Held", value: held, aside },
    { label: pool.limit === undefined ? "Free" : "Left", value: free },
    ...(pool.limit === undefined ? outFigures(pool) : []),
  ];
}

/** Clusters that hibernate or are on their way are stock, and not out of service. */
function outFigures(pool: Pool): Figure[] {
  const cooling = coolingIn([pool]);
  const aside = andMore(cooling, "cooling");
  const out = { label: "Out of service", value: outOf(pool), aside, ...outLink(pool) };
  if (pool.template === undefined) return [out];
  const stock = [
    { label: "Hibernated", value: hibernatedIn([pool]) },
    { label: "Not ready", value: clustersNotReady([pool]).count },
  ];
  return out.value + cooling === 0 ? stock : [...stock, out];
}

/** A shared pool has no number of free resources: it has free amounts. */
function amountFigures(pool: Pool, usage: NonNullable<Pool["usage"]>): Figure[] {
  return [
    ...usage.map(({ dimension, used, capacity }) => ({
      label: `Free ${dimension}`,
      value: Math.max(0, capacity - used),
      aside: `of ${grouped(capacity)}`,
    })),
    { label: "Hosts", value: pool.total, ...outOfHosts(pool) },
  ];
}

function outOfHosts(pool: Pool): Pick<Figure, "aside" | "href"> {
  const out = outOf(pool);
  return out === 0 ? {} : { aside: `${grouped(out)} out of service`, ...outLink(pool) };
}

/** The view has what was said of each, and what to do. */
function outLink(pool: Pool): Pick<Figure, "href"> {
  return outOf(pool) === 0 ? {} : { href: `/out?q=${encodeURIComponent(pool.name)}` };
}
