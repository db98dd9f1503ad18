import { useState } from "react";
import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import { useSettled } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { past } from "../data/questions.ts";
import { Choice } from "../parts/choice.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { amountText } from "../parts/wants.ts";
import { useFilter } from "../router.ts";
import { CompareWeeks } from "./compare-weeks.tsx";
import { EstimateAccuracyNote } from "./estimate.tsx";
import { HistoryCharts } from "./history-charts.tsx";
import { PastTable } from "./past-table.tsx";
import { WorstPools } from "./worst-pools.tsx";

const hows = [
  ["", "All"],
  ["released", "Released"],
  ["expired", "Expired"],
  ["lifetime", "Lifetime reached"],
  ["revoked", "Ended by operators"],
  ["abandoned", "Gave up waiting"],
] as const;

const purposes = [
  ["", "Leases"],
  ["clean", "Cleanings"],
] as const;

const settleMs = 300;
const readMax = 200;
const shownAtFirst = 25;

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
      <CompareWeeks />
      <EstimateAccuracyNote />
      <Past />
    </>
  );
}

function Past() {
  const [text] = useFilter("q");
  const [holder] = useFilter("holder");
  const [pool] = useFilter("pool");
  const [how] = useFilter("how");
  const [purpose] = useFilter("purpose");
  const filter = {
    limit: readMax,
    text: useSettled(text, settleMs) || undefined,
    holder: useSettled(holder, settleMs) || undefined,
    pool: useSettled(pool, settleMs) || undefined,
    how: how || undefined,
    purpose: purpose === "clean" ? ("clean" as const) : undefined,
  };
  const { data, error } = useAnswer(past(filter));
  const [shown, setShown] = useState(shownAtFirst);
  return (
    <section aria-labelledby="past-title">
      <h2 id="past-title">Past leases</h2>
      <div className="tools">
        <FilterBox label="Filter by holder, pool, resource or space" />
        <Choice name="purpose" label="Leases or cleanings" options={purposes} />
        <span className="faint" aria-hidden="true">
          Ended:
        </span>
        <Choice name="how" label="How it ended" options={hows} />
        <CsvButton name="history" rows={() => csvRows(data?.items ?? [])} />
      </div>
      <ProblemNote error={error} />
      {data === undefined ? (
        <Loading error={error} />
      ) : data.items.length === 0 ? (
        <EmptyNote title="No past lease matches">
          Leases appear here when they end, and requests when they leave the queue.
        </EmptyNote>
      ) : (
        <>
          <PastTable entries={data.items.slice(0, shown)} />
          <MoreButton shown={shown} of={data.items.length} onMore={setShown} />
        </>
      )}
      {data?.next && shown >= readMax ? (
        <p className="calm">
          The latest {readMax} are shown here; <code>berth history</code> prints all of them.
        </p>
      ) : null}
    </section>
  );
}

function csvRows(entries: readonly HistoryEntry[]) {
  const head = ["id", "holder", "space", "pool", "resource", "amount", "askedAt", "grantedAt"];
  const rows = entries.map(({ id, holder, space, pool, resource, amount, ...more }) => [
    ...[id, holder, space, pool, resource, amountText(amount), more.askedAt, more.grantedAt],
    ...[more.endedAt, more.how, more.waitSeconds, more.holdSeconds],
  ]);
  return [[...head, "endedAt", "how", "waitSeconds", "holdSeconds"], ...rows];
}
