import { useState } from "react";
import type { PageOf } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import type { EventFilter } from "../../../src/core/explain/event-about.ts";
import { toneOf } from "../../../src/core/explain/event-tone.ts";
import { useAnswer } from "../data/query.ts";
import { earlierEvents, eventsAbout } from "../data/questions.ts";
import { type Fold, foldWords, stepsOf } from "../parts/event-folds.ts";
import { poolsOf } from "../parts/event-subjects.ts";
import { EventWords } from "../parts/event-words.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { rowsAtFirst } from "../parts/phone.ts";
import { Moment } from "../parts/times.tsx";

/** The newest first. */
export function EventList({ events }: { events: readonly FeedEvent[] }) {
  return (
    <ol className="events">
      {events.map((event) => (
        <EventRow key={event.seq} event={event} />
      ))}
    </ol>
  );
}

function EventRow({ event }: { event: FeedEvent }) {
  return (
    <li className={`tone-${toneOf(event)}`} data-row>
      <span className="time">
        <Moment at={event.at} />
      </span>
      <EventWords event={event} />
      <span className="faint number optional" title="Event number: its place in the journal">
        {event.seq}
      </span>
    </li>
  );
}

interface FoldedProps {
  readonly folds: readonly Fold[];
  readonly onOpen?: () => void;
}

/** The newest first; what happens all the time is one row, which opens. */
export function FoldedEvents({ folds, onOpen }: FoldedProps) {
  return (
    <ol className="events">
      {folds.map((fold) => {
        const [event] = fold.events;
        if (event === undefined) return null;
        return fold.events.length === 1 ? (
          <EventRow key={fold.key} event={event} />
        ) : (
          <FoldRow key={fold.key} fold={fold} newest={event} onOpen={onOpen} />
        );
      })}
    </ol>
  );
}

interface FoldProps {
  readonly fold: Fold;
  readonly newest: FeedEvent;
  readonly onOpen: (() => void) | undefined;
}

function FoldRow({ fold, newest, onOpen }: FoldProps) {
  const [isOpen, setOpen] = useState(false);
  const toggle = (open: boolean) => {
    setOpen(open);
    if (open) onOpen?.();
  };
  return (
    <li className={`fold tone-${toneOf(newest)}`} data-row>
      <span className="time">
        <Moment at={newest.at} />
      </span>
      <details open={isOpen} onToggle={(event) => toggle(event.currentTarget.open)}>
        <summary>{foldWords(fold, poolsOf)}</summary>
        {isOpen ? <EventList events={fold.events} /> : null}
      </details>
    </li>
  );
}

interface AboutProps {
  /** Must not change while it is shown. */
  readonly subject: EventFilter;
}

interface PageProps extends AboutProps {
  readonly page: PageOf<FeedEvent>;
  /** It stands below later ones. */
  readonly isEarlier?: boolean;
}

/** The section of a page that shows the events about its subject, as far back as they are kept. */
export function EventsAbout({ subject }: AboutProps) {
  const { data, error } = useAnswer(eventsAbout(subject));
  return (
    <section aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      <ProblemNote error={error} />
      {data === undefined ? <Loading error={error} /> : <EventPage page={data} subject={subject} />}
    </section>
  );
}

const shownAtFirst = 100;
const shownOnPhone = 12;

/** A page of events, and the earlier pages below it once somebody asks for them. */
function EventPage({ page, subject, isEarlier = false }: PageProps) {
  const [after, setAfter] = useState<string>();
  const [shown, setShown] = useState(rowsAtFirst(shownAtFirst, shownOnPhone));
  const { items, next } = page;
  const steps = stepsOf(items);
  return (
    <>
      {items.length > 0 ? (
        <FoldedEvents folds={steps.slice(0, shown)} />
      ) : (
        <p className="calm">
          {next !== null
            ? "None among these events."
            : isEarlier
              ? "No earlier events."
              : "The journal has no events about it."}
        </p>
      )}
      <MoreButton shown={shown} of={steps.length} onMore={setShown} />
      {steps.length > shown ? null : after !== undefined ? (
        <Earlier subject={subject} after={after} />
      ) : next === null ? null : (
        <button type="button" onClick={() => setAfter(next)}>
          Earlier events
        </button>
      )}
    </>
  );
}

function Earlier({ subject, after }: AboutProps & { after: string }) {
  const { data, error } = useAnswer(earlierEvents(subject, after));
  if (data !== undefined) return <EventPage page={data} subject={subject} isEarlier />;
  return (
    <>
      <ProblemNote error={error} />
      <Loading error={error} />
    </>
  );
}
