import { useState } from "react";
import type { PageOf } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import type { EventFilter } from "../../../src/core/explain/event-about.ts";
import { useAnswer } from "../data/query.ts";
import { earlierEvents, eventsAbout } from "../data/questions.ts";
import { toneOf } from "../parts/event-tone.ts";
import { EventWords } from "../parts/event-words.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { Moment } from "../parts/times.tsx";

/** The newest first. */
export function EventList({ events }: { events: readonly FeedEvent[] }) {
  return (
    <ol className="events">
      {events.map((event, index) => (
        <li key={event.seq} className={`tone-${toneOf(event)}`}>
          <span className="faint number optional">{event.seq}</span>
          <span className={isSameSecond(event, events[index - 1]) ? "time same" : "time"}>
            <Moment at={event.at} />
          </span>
          <EventWords event={event} />
        </li>
      ))}
    </ol>
  );
}

/** A busy second is named once. */
function isSameSecond({ at }: FeedEvent, above: FeedEvent | undefined): boolean {
  return above !== undefined && above.at.slice(0, 19) === at.slice(0, 19);
}

interface AboutProps {
  /** Must not change while it is shown. */
  readonly subject: EventFilter;
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

/** A page of events, and the earlier pages below it once somebody asks for them. */
function EventPage({ page, subject }: AboutProps & { page: PageOf<FeedEvent> }) {
  const [after, setAfter] = useState<string>();
  const { items, next } = page;
  return (
    <>
      {items.length > 0 ? (
        <EventList events={items} />
      ) : (
        <p className="calm">
          {next === null ? "The journal has no events about it." : "None among these events."}
        </p>
      )}
      {after !== undefined ? (
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
  if (data !== undefined) return <EventPage page={data} subject={subject} />;
  return (
    <>
      <ProblemNote error={error} />
      <Loading error={error} />
    </>
  );
}
