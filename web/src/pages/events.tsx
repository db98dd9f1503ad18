import { useEffect, useMemo, useRef, useState } from "react";
import type { PageOf } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { useSettled } from "../data/clock.ts";
import { whoami } from "../data/live.ts";
import { useOlder } from "../data/older.ts";
import { usePause } from "../data/pause.ts";
import { useAnswer } from "../data/query.ts";
import {
  type EventsWanted,
  earlierHolders,
  eventsFound,
  moreEvents,
  pastEventsOf,
  poolNames,
  spaceNames,
} from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { Choice } from "../parts/choice.tsx";
import { zoneText } from "../parts/clock-time.ts";
import { CsvButton } from "../parts/csv-button.tsx";
import { foldsOf, wholeFoldsOf } from "../parts/event-folds.ts";
import { FilterBox } from "../parts/filter-box.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { OlderButton } from "../parts/older-button.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { rowsAtFirst } from "../parts/phone.ts";
import { PickName } from "../parts/pick-name.tsx";
import { PickTime } from "../parts/pick-time.tsx";
import { useFilter } from "../router.ts";
import { EventList, FoldedEvents } from "./event-list.tsx";

const kinds = [
  ["", "All"],
  ["trouble", "Trouble"],
  ["lease-", "Leases"],
  ["request-", "Requests"],
  ["resource-", "Resources"],
  ["pool-", "Pools"],
  ["rate-", "Rates"],
  ["cluster-", "Clusters"],
] as const;

const shownMax = 300;
/** A busy server puts thousands of events into so many rows. */
const rowsGrownMin = 10;
const settleMs = 300;

/** The server searches all events that are kept. */
function useEventsWanted(): EventsWanted {
  const [text] = useFilter("q");
  const [kind] = useFilter("type");
  const [pool] = useFilter("pool");
  const [space] = useFilter("space");
  const [since] = useFilter("since");
  const [until] = useFilter("until");
  const settled = useSettled(text, settleMs);
  return useMemo(
    () => ({
      type: kind === "" || kind === "trouble" ? undefined : kind,
      trouble: kind === "trouble" || undefined,
      pool: pool || undefined,
      space: space || undefined,
      text: settled || undefined,
      since: since || undefined,
      until: until || undefined,
    }),
    [settled, kind, pool, space, since, until],
  );
}

/** Events as they happen, and earlier ones. The list does not move while somebody reads further down. */
export function Events() {
  useAnswer(earlierHolders); // Draws the list again once the names are known.
  const { data: pools = [] } = useAnswer(poolNames);
  const us = useStore(whoami);
  const filter = useEventsWanted();
  const key = JSON.stringify(filter);
  const [way] = useFilter("way");
  const { data, error } = useAnswer(eventsFound(filter));
  const pause = usePause(key, data);
  const held = useHeldWhileBelow(data);
  const page = pause.page ?? held ?? data;
  const older = useOlder(key, (after) => pastEventsOf(filter, after, undefined, moreEvents));
  const shown = useMemo(() => [...(page?.items ?? []), ...older.items], [page, older.items]);
  const next = older.next === undefined ? page?.next : older.next;
  const folds = useMemo(
    () => (next === null ? foldsOf(shown) : wholeFoldsOf(shown)),
    [shown, next],
  );
  const isEnough = (found: readonly FeedEvent[]) => {
    if (way === "each" || found.length === 0) return found.length > 0;
    const grownBy = wholeFoldsOf([...shown, ...found]).length - folds.length;
    return grownBy >= Math.min(found.length, rowsGrownMin);
  };
  const [shownCount, setShownCount] = useState(rowsAtFirst(shownMax));
  const resume = () => {
    pause.resume();
    setShownCount(rowsAtFirst(shownMax));
    older.reset();
  };
  const rows = way === "each" ? shown.length : folds.length;
  return (
    <>
      <PageHead
        title={
          <>
            Events <small className="zone">times in {zoneText()}</small>
          </>
        }
      >
        <OneByOne />
        <CsvButton name="events" rows={() => csvRows(shown)} />
        <button
          type="button"
          aria-pressed={pause.isPaused}
          onClick={pause.isPaused ? resume : pause.pause}
        >
          {pause.isPaused ? `Resume${pause.page ? newText(pause.page, data) : ""}` : "Pause"}
        </button>
      </PageHead>
      <div className="tools feed">
        <FilterBox label="Search all events" />
        <Choice name="type" label="About" options={kinds} />
        <PickName name="pool" label="Pool" names={pools} />
        {us?.authentication === true ? <PickSpace /> : null}
        <PickTime />
      </div>
      <ProblemNote error={error} />
      {page === undefined ? (
        <Loading error={error} />
      ) : shown.length === 0 ? (
        <EmptyNote title={emptyText(filter, page)}>
          Events appear here as they happen; <code>berth events</code> prints the same events.
        </EmptyNote>
      ) : way === "each" ? (
        <EventList events={shown.slice(0, shownCount)} />
      ) : (
        <FoldedEvents folds={folds.slice(0, shownCount)} onOpen={() => pause.keep(page)} />
      )}
      <MoreButton shown={shownCount} of={rows} onMore={setShownCount} />
      {page === undefined || rows > shownCount ? null : (
        <OlderButton
          older={{ ...older, load: (after) => older.load(after, isEnough) }}
          next={page.next}
          onFirst={() => pause.keep(page)}
          since={way === "each" ? shown.at(-1)?.at : folds.at(-1)?.events[0]?.at}
        />
      )}
      {!pause.isPaused && held !== undefined ? <BackUp held={held} live={data} /> : null}
    </>
  );
}

type EventPage = PageOf<FeedEvent>;

/** Events that happen all the time are put together, unless somebody wants to see each. */
function OneByOne() {
  const [way, setWay] = useFilter("way");
  const isEach = way === "each";
  return (
    <button type="button" aria-pressed={isEach} onClick={() => setWay(isEach ? "" : "each")}>
      One by one
    </button>
  );
}

function PickSpace() {
  const { data: names = [] } = useAnswer(spaceNames);
  return <PickName name="space" label="Space" names={names} />;
}

/** Somebody who has scrolled this far reads: the list must not move. */
const readsBelowPx = 160;

/** The events that were known when somebody began to read further down. */
function useHeldWhileBelow(live: EventPage | undefined): EventPage | undefined {
  const [held, setHeld] = useState<EventPage>();
  const newest = useRef(live);
  newest.current = live;
  useEffect(() => {
    let wasBelow = false;
    const look = () => {
      const isBelow = window.scrollY > readsBelowPx;
      if (isBelow === wasBelow) return;
      wasBelow = isBelow;
      setHeld(isBelow ? newest.current : undefined);
    };
    window.addEventListener("scroll", look, { passive: true });
    return () => window.removeEventListener("scroll", look);
  }, []);
  return held;
}

interface BackUpProps {
  readonly held: EventPage;
  readonly live: EventPage | undefined;
}

/** The way back to what is new, for somebody who has scrolled down. */
function BackUp({ held, live }: BackUpProps) {
  return (
    <button type="button" className="back-up" onClick={() => window.scrollTo(0, 0)}>
      ↑ Back to the newest{newText(held, live)}
    </button>
  );
}

/** The newest event is first, so the index of the first one shown is the number of new events. */
function newText({ items: [first] }: EventPage, live: EventPage | undefined): string {
  const items = live?.items ?? [];
  const count = items.findIndex(({ seq }) => seq === first?.seq);
  if (count === -1) return items.length === 0 ? "" : ` (more than ${items.length} new)`;
  return count === 0 ? "" : ` (${count} new)`;
}

function emptyText({ trouble, ...rest }: EventsWanted, { next }: EventPage): string {
  const isPlain = Object.values(rest).every((value) => value === undefined);
  if (next !== null) return "No event among the latest matches";
  if (!isPlain) return "No event matches";
  return trouble === true ? "No trouble so far" : "Nothing has happened yet";
}

function csvRows(events: readonly FeedEvent[]) {
  const rows = events.map(({ seq, at, type, ...facts }) => [seq, at, type, JSON.stringify(facts)]);
  return [["number", "at", "type", "facts"], ...rows];
}
