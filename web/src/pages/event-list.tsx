import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { EventWords } from "../parts/event-words.tsx";
import { Moment } from "../parts/times.tsx";

/** The newest first. */
export function EventList({ events }: { events: readonly FeedEvent[] }) {
  return (
    <ol className="events">
      {events.map((event) => (
        <li key={event.seq} className={`event-${event.type}`}>
          <span className="faint number">{event.seq}</span>
          <Moment at={event.at} />
          <EventWords event={event} />
        </li>
      ))}
    </ol>
  );
}

/** The section of a page that shows the latest events about its subject. */
export function RecentEvents({ events }: { events: readonly FeedEvent[] }) {
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">Recent events</h2>
      {events.length === 0 ? (
        <p className="calm">None among the latest events.</p>
      ) : (
        <EventList events={events} />
      )}
    </section>
  );
}
