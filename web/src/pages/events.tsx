import { useMemo, useState } from "react";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { recentEvents } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { earlierHolders } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { Choice } from "../parts/choice.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { EmptyNote } from "../parts/notes.tsx";
import { useFilter } from "../router.ts";
import { EventList } from "./event-list.tsx";

const kinds = [
  ["", "All"],
  ["lease-", "Leases"],
  ["request-", "Requests"],
  ["resource-", "Resources"],
  ["pool-", "Pools"],
  ["rate-", "Rates"],
  ["cluster-", "Clusters"],
] as const;

const shownMax = 300;

/** Events as they happen. Pause stops the list, so that it does not move while somebody reads. */
export function Events() {
  useAnswer(earlierHolders); // Draws the list again once the names are known.
  const live = useStore(recentEvents);
  const [paused, setPaused] = useState<readonly FeedEvent[]>();
  const events = paused ?? live;
  const [text] = useFilter("q");
  const [kind] = useFilter("type");
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    const fits = (event: FeedEvent) =>
      event.type.startsWith(kind) && JSON.stringify(event).toLowerCase().includes(wanted);
    return events.filter(fits).slice(0, shownMax);
  }, [events, text, kind]);
  // The newest event is first, so the index is the number of new events.
  const newCount = paused === undefined ? 0 : live.findIndex(({ seq }) => seq === paused[0]?.seq);
  return (
    <>
      <h1>Events</h1>
      <div className="tools">
        <FilterBox label="Filter by any text" />
        <Choice name="type" label="About" options={kinds} />
        <CsvButton name="events" rows={() => csvRows(shown)} />
        <button
          type="button"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? live : undefined)}
        >
          {paused === undefined ? "Pause" : `Resume${newCount > 0 ? ` (${newCount} new)` : ""}`}
        </button>
      </div>
      {shown.length === 0 ? (
        <EmptyNote title={events.length === 0 ? "Nothing has happened yet" : "No event matches"}>
          Events appear here as they happen; <code>berth events</code> prints the same events.
        </EmptyNote>
      ) : (
        <EventList events={shown} />
      )}
    </>
  );
}

function csvRows(events: readonly FeedEvent[]) {
  const rows = events.map(({ seq, at, type, ...facts }) => [seq, at, type, JSON.stringify(facts)]);
  return [["number", "at", "type", "facts"], ...rows];
}
