import { useEffect, useState } from "react";
import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { PageOf } from "../../../src/api/schemas.ts";
import { berth } from "../data/berth.ts";
import { useSettled } from "../data/clock.ts";
import { useOlder } from "../data/older.ts";
import { useAnswer } from "../data/query.ts";
import { past, poolNames } from "../data/questions.ts";
import { zoomedTimes, zoomText } from "../parts/chart-fit.ts";
import { useChartRange } from "../parts/chart-range.ts";
import { Choice } from "../parts/choice.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { NoMatch } from "../parts/no-match.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { OlderButton } from "../parts/older-button.tsx";
import { rowsAtFirst } from "../parts/phone.ts";
import { Pick } from "../parts/pick.tsx";
import { PickName } from "../parts/pick-name.tsx";
import { useScrollTo } from "../parts/scroll-to.ts";
import { amountText } from "../parts/wants.ts";
import { useFilter } from "../router.ts";
import { CompareWeeks } from "./compare-weeks.tsx";
import { EstimateAccuracyNote } from "./estimate.tsx";
import { HistoryCharts } from "./history-charts.tsx";
import { endsOf, howOf } from "./past-ends.ts";
import { PastTable } from "./past-table.tsx";
import { WorstPools } from "./worst-pools.tsx";

const purposes = [
  ["", "Leases"],
  ["clean", "Cleanings"],
] as const;

const settleMs = 300;
const readMax = 200;
const shownAtFirst = 25;
const shownOnPhone = 10;

export function History() {
  return (
    <>
      <h1>History</h1>
      <nav className="on-page" aria-label="On this page">
        <a href="#worst-title">Where requests waited</a>
        <a href="#weeks-title">Compare weeks</a>
        <a href="#past-title">Past leases</a>
      </nav>
      <HistoryCharts />
      <WorstPools />
      <EstimateAccuracyNote />
      <CompareWeeks />
      <Past />
    </>
  );
}

function Past() {
  useScrollTo("past-title");
  const [text] = useFilter("q");
  const [holder] = useFilter("holder");
  const [pool] = useFilter("pool");
  const { data: pools = [] } = useAnswer(poolNames);
  const [how] = useFilter("how");
  const [purpose] = useFilter("purpose");
  const { chosen, isZoomed } = useChartRange();
  const zoomed = isZoomed && chosen !== null ? chosen : undefined;
  const [since, until] = zoomed === undefined ? [] : zoomedTimes(zoomed).map(isoText);
  const filter = {
    ...{ limit: readMax, since, until },
    text: useSettled(text, settleMs) || undefined,
    holder: useSettled(holder, settleMs) || undefined,
    pool: useSettled(pool, settleMs) || undefined,
    how: howOf(how, purpose),
    purpose: purpose === "clean" ? ("clean" as const) : undefined,
  };
  const isFiltered = [filter.text, filter.holder, filter.pool, filter.how].some(Boolean);
  const { data: live, error } = useAnswer(past(filter));
  const [paused, setPaused] = useState<PageOf<HistoryEntry>>();
  const key = JSON.stringify(filter);
  const older = useOlder(key, (after) => berth.history({ ...filter, after }));
  const page = paused ?? live;
  const hasOlder = (older.next === undefined ? page?.next : older.next) !== null;
  const entries = page === undefined ? undefined : [...page.items, ...older.items];
  const [shown, setShown] = useState(rowsAtFirst(shownAtFirst, shownOnPhone));
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another filter the list is another.
  useEffect(() => setPaused(undefined), [key]);
  const resume = () => {
    setPaused(undefined);
    older.reset();
  };
  return (
    <section aria-labelledby="past-title">
      <h2 id="past-title">
        Past leases{" "}
        {zoomed === undefined ? null : (
          <small className="about">Those that ended {zoomText(zoomed)}.</small>
        )}
      </h2>
      <div className="tools">
        <FilterBox label="Filter by holder, pool, resource or space" />
        <Choice name="purpose" label="Leases or cleanings" options={purposes} />
        <Pick name="how" label="Ended" options={endOptions(purpose)} />
        <PickName name="pool" label="Pool" names={pools} />
        <PickName name="holder" label="Holder" names={[]} />
        <CsvButton name="history" rows={() => csvRows(entries ?? [])} />
        {paused === undefined ? null : (
          <button type="button" aria-pressed onClick={resume}>
            Resume
          </button>
        )}
      </div>
      <ProblemNote error={error} />
      {page === undefined || entries === undefined ? (
        <Loading error={error} />
      ) : entries.length === 0 ? (
        <NothingPast purpose={purpose} isFiltered={isFiltered} />
      ) : (
        <>
          <PastTable entries={entries.slice(0, shown)} />
          <MoreButton
            shown={shown}
            of={entries.length}
            {...(hasOlder && { which: "the latest" })}
            onMore={setShown}
          />
          {shown < entries.length ? null : (
            <OlderButton older={older} next={page.next} onFirst={() => setPaused(page)} />
          )}
        </>
      )}
    </section>
  );
}

function endOptions(purpose: string) {
  const ends = endsOf(purpose).map(({ value, words }) => [value, words] as const);
  return [["", "in any way"] as const, ...ends];
}

function NothingPast({ purpose, isFiltered }: { purpose: string; isFiltered: boolean }) {
  const what = purpose === "clean" ? "cleaning" : "lease";
  if (isFiltered) return <NoMatch title={`No past ${what} matches`} />;
  return (
    <EmptyNote title={`No ${what} has ended in this time`}>
      {purpose === "clean"
        ? "Cleanings appear here when they are over."
        : "Leases appear here when they end, and requests when they leave the queue."}
    </EmptyNote>
  );
}

function isoText(ms: number): string {
  return new Date(ms).toISOString();
}

function csvRows(entries: readonly HistoryEntry[]) {
  const head = ["id", "holder", "space", "pool", "resource", "amount", "askedAt", "grantedAt"];
  const rows = entries.map(({ id, holder, space, pool, resource, amount, ...more }) => [
    ...[id, holder, space, pool, resource, amountText(amount), more.askedAt, more.grantedAt],
    ...[more.endedAt, more.how, more.waitSeconds, more.holdSeconds],
  ]);
  return [[...head, "endedAt", "how", "waitSeconds", "holdSeconds"], ...rows];
}
