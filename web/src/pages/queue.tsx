import { useAnswer } from "../data/query.ts";
import { queueOf } from "../data/questions.ts";
import { NoActionsNote } from "../parts/action-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { useFilter } from "../router.ts";
import { EstimateAccuracyNote } from "./estimate.tsx";
import { QueueTable } from "./queue-table.tsx";

/** Everybody who waits, over all pools; those who have waited longest first. */
export function Queue() {
  const { data, error } = useAnswer(queueOf(undefined));
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
        <EmptyNote title={data.length === 0 ? "Nobody waits" : "Nothing fits"}>
          {data.length === 0
            ? "Whoever asks for something that is not free shows up here, with its place in line."
            : "Filter by another text."}
        </EmptyNote>
      ) : (
        <QueueTable requests={shown} withPools shownAtFirst={100} />
      )}
    </>
  );
}
