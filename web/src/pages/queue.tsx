import { useAnswer } from "../data/query.ts";
import { queueOf } from "../data/questions.ts";
import { NoActionsNote } from "../parts/action-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { useFilter } from "../router.ts";
import { EstimateAccuracyNote } from "./estimate.tsx";
import { QueueTable, useEmptyQueueText } from "./queue-table.tsx";

/** The waiting requests of all pools, the longest wait first. */
export function Queue() {
  const { data, error } = useAnswer(queueOf(undefined));
  const emptyText = useEmptyQueueText();
  const [text] = useFilter("q");
  const wanted = text.toLowerCase();
  const shown = (data ?? [])
    .filter(({ holder, items }) =>
      [holder, ...items.map(({ pool }) => pool)].some((word) =>
        word.toLowerCase().includes(wanted),
      ),
    )
    .toSorted((a, b) => a.queuedAt.localeCompare(b.queuedAt));
  return (
    <>
      <h1>
        Queue <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h1>
      <ProblemNote error={error} />
      <NoActionsNote />
      <EstimateAccuracyNote />
      <div className="tools">
        <FilterBox label="Filter by holder or pool" />
      </div>
      {data === undefined ? (
        <Loading />
      ) : shown.length === 0 ? (
        <EmptyNote title={data.length === 0 ? emptyText : "No request matches"}>
          {data.length === 0
            ? "Requests that wait for a resource appear here, with their position."
            : "Change the filter."}
        </EmptyNote>
      ) : (
        <QueueTable requests={shown} withPools shownAtFirst={100} />
      )}
    </>
  );
}
