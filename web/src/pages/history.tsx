import { useSettled } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { past } from "../data/questions.ts";
import { Choice } from "../parts/choice.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { useFilter } from "../router.ts";
import { EstimateAccuracyNote } from "./estimate.tsx";
import { HistoryCharts } from "./history-charts.tsx";
import { PastTable } from "./past-table.tsx";

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
const shownMax = 200;

export function History() {
  return (
    <>
      <h1>History</h1>
      <HistoryCharts />
      <EstimateAccuracyNote />
      <Past />
    </>
  );
}

function Past() {
  const [holder] = useFilter("holder");
  const [pool] = useFilter("pool");
  const [how] = useFilter("how");
  const [purpose] = useFilter("purpose");
  const filter = {
    limit: shownMax,
    holder: useSettled(holder, settleMs) || undefined,
    pool: useSettled(pool, settleMs) || undefined,
    how: how || undefined,
    purpose: purpose === "clean" ? ("clean" as const) : undefined,
  };
  const { data, error } = useAnswer(past(filter));
  return (
    <section aria-labelledby="past-title">
      <h2 id="past-title">Past leases</h2>
      <div className="tools">
        <FilterBox label="Exact holder" name="holder" />
        <FilterBox label="Exact pool" name="pool" hint={false} />
        <Choice name="how" label="How it ended" options={hows} />
        <Choice name="purpose" label="Leases or cleanings" options={purposes} />
      </div>
      <ProblemNote error={error} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.items.length === 0 ? (
        <EmptyNote title="No past lease matches">
          Leases appear here when they end, and requests when they leave the queue.
        </EmptyNote>
      ) : (
        <PastTable entries={data.items} />
      )}
      {data?.next ? (
        <p className="calm">
          The latest {shownMax} are shown here; <code>berth history</code> prints all of them.
        </p>
      ) : null}
    </section>
  );
}
