import { useEffect, useMemo, useRef, useState } from "react";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { recentEvents, recentTrouble } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { earlierHolders } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { Choice } from "../parts/choice.tsx";
import { zoneText } from "../parts/clock-time.ts";
import { CsvButton } from "../parts/csv-button.tsx";
import { foldsOf } from "../parts/event-folds.ts";
import { subjectsIn } from "../parts/event-subjects.ts";
import { FilterBox } from "../parts/filter-box.tsx";
import { EmptyNote } from "../parts/notes.tsx";
import { Pick } from "../parts/pick.tsx";
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

const ways = [
  ["", "Grouped"],
  ["each", "One by one"],
] as const;

const shownMax = 300;

/** Events as they happen. The list does not move while somebody reads further down. */
export function Events() {
  useAnswer(earlierHolders); // Draws the list again once the names are known.
  const [text] = useFilter("q");
  const [kind] = useFilter("type");
  const [pool] = useFilter("pool");
  const [space] = useFilter("space");
  const [way] = useFilter("way");
  const live = useStore(kind === "trouble" ? recentTrouble : recentEvents);
  const [paused, setPaused] = useState<readonly FeedEvent[]>();
  const held = useHeldWhileBelow(live);
  const events = paused ?? held ?? live;
  const subjects = useMemo(() => subjectsIn(events), [events]);
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    const prefix = kind === "trouble" ? "" : kind;
    const fits = (event: FeedEvent) =>
      event.type.startsWith(prefix) &&
      (pool === "" || subjects.poolsOf(event).includes(pool)) &&
      (space === "" || subjects.spaceOf(event) === space) &&
      JSON.stringify(event).toLowerCase().includes(wanted);
    return events.filter(fits);
  }, [events, text, kind, pool, space, subjects]);
  const folds = useMemo(() => foldsOf(shown).slice(0, shownMax), [shown]);
  return (
    <>
      <h1>
        Events <small className="zone">times in {zoneText()}</small>
      </h1>
      <div className="tools feed">
        <FilterBox label="Filter by any text" />
        <Choice name="type" label="About" options={kinds} />
        <PickSeen name="pool" label="Pool" seen={subjects.pools} />
        <PickSeen name="space" label="Space" seen={subjects.spaces} />
        <Choice name="way" label="Grouped or one by one" options={ways} />
        <CsvButton name="events" rows={() => csvRows(shown)} />
        <button
          type="button"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? live : undefined)}
        >
          {paused === undefined ? "Pause" : `Resume${newText(paused, live)}`}
        </button>
      </div>
      {shown.length === 0 ? (
        <EmptyNote title={emptyText(events, kind)}>
          Events appear here as they happen; <code>berth events</code> prints the same events.
        </EmptyNote>
      ) : way === "each" ? (
        <EventList events={shown.slice(0, shownMax)} />
      ) : (
        <FoldedEvents folds={folds} subjects={subjects} />
      )}
      {paused === undefined && held !== undefined ? <BackUp held={held} live={live} /> : null}
    </>
  );
}

interface SeenProps {
  readonly name: "pool" | "space";
  readonly label: string;
  /** The names in the events that are known. */
  readonly seen: readonly string[];
}

/** The value in the address is always among them, also before an event has it. */
function PickSeen({ name, label, seen }: SeenProps) {
  const [chosen] = useFilter(name);
  const names = chosen === "" || seen.includes(chosen) ? seen : [chosen, ...seen];
  if (names.length === 0) return null;
  const options = [["", "all"], ...names.map((one) => [one, one] as const)] as const;
  return <Pick name={name} label={label} options={options} />;
}

/** Somebody who has scrolled this far reads: the list must not move. */
const readsBelowPx = 160;

/** The events that were known when somebody began to read further down. */
function useHeldWhileBelow(live: readonly FeedEvent[]): readonly FeedEvent[] | undefined {
  const [held, setHeld] = useState<readonly FeedEvent[]>();
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

/** The way back to what is new, for somebody who has scrolled down. */
function BackUp({ held, live }: Record<"held" | "live", readonly FeedEvent[]>) {
  return (
    <button type="button" className="back-up" onClick={() => window.scrollTo(0, 0)}>
      ↑ Back to the newest{newText(held, live)}
    </button>
  );
}

/** The newest event is first, so the index of the first one shown is the number of new events. */
function newText([first]: readonly FeedEvent[], live: readonly FeedEvent[]): string {
  const count = live.findIndex(({ seq }) => seq === first?.seq);
  if (count === -1) return ` (more than ${live.length} new)`;
  return count === 0 ? "" : ` (${count} new)`;
}

function emptyText(events: readonly FeedEvent[], kind: string): string {
  if (events.length > 0) return "No event matches";
  return kind === "trouble" ? "No trouble so far" : "Nothing has happened yet";
}

function csvRows(events: readonly FeedEvent[]) {
  const rows = events.map(({ seq, at, type, ...facts }) => [seq, at, type, JSON.stringify(facts)]);
  return [["number", "at", "type", "facts"], ...rows];
}
