import type { Broker } from "../broker/broker.ts";
import type { SpaceName } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";
import type { Recorded } from "../journal/journal.ts";
import { ownerOfEvent } from "./render/event.ts";

/** A commit, and for each event the space that it belongs to; null: to no space. */
export interface LiveCommit extends Recorded {
  readonly owners: readonly (SpaceName | undefined | null)[];
}

/** Commits that go to every feed in one write. */
export interface LiveEvents {
  readonly commits: readonly LiveCommit[];
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Made once for all feeds that see all spaces, and once for all that see only this one. */
  readonly bytes: (space?: SpaceName) => Buffer;
}

type FormatCommit = (commit: LiveCommit, space: SpaceName | undefined) => string;

/**
 * A write to a socket costs about 20 µs of the server's only thread. With this much between two
 * writes for each feed, all feeds together take at most a fifth of it: 900 feeds get their events up
 * to 90 ms late, and up to nine feeds at once.
 */
const delayPerFeedMs = 0.1;

/**
 * Passes committed events to all feeds. Each event is formatted once and not once per feed, and many
 * feeds get the commits of a short time together.
 */
export class LiveEventHub {
  readonly #format: FormatCommit;
  readonly #feeds = new Set<(events: LiveEvents) => void>();
  #weight = 0;
  #waiting: LiveCommit[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(broker: Pick<Broker, "listen">, format: FormatCommit) {
    this.#format = format;
    broker.listen({ committed: (recorded, state) => this.#add(recorded, state) });
  }

  /**
   * Returns a function that removes the feed. With a weight of 3, a write to it takes three times as
   * long as usual.
   */
  add(feed: (events: LiveEvents) => void, weight = 1): () => void {
    this.#feeds.add(feed);
    this.#weight += weight;
    return () => {
      if (this.#feeds.delete(feed)) this.#weight -= weight;
    };
  }

  /** Passes on what waits. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#takeWaiting();
    if (events !== undefined) for (const feed of this.#feeds) feed(events);
  }

  #add(recorded: Recorded, state: State): void {
    if (this.#feeds.size === 0) return;
    // Later the state may have forgotten whose lease it was.
    const owners = recorded.events.map((event) => ownerOfEvent(state, event, recorded.at));
    this.#waiting.push({ ...recorded, owners });
    const delayMs = Math.floor(this.#weight * delayPerFeedMs);
    if (delayMs === 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), delayMs).unref();
  }

  #takeWaiting(): LiveEvents | undefined {
    const commits = this.#waiting;
    const [first] = commits;
    const last = commits.at(-1);
    if (first === undefined || last === undefined) return undefined;
    this.#waiting = [];
    const made = new Map<SpaceName | undefined, Buffer>();
    return {
      commits,
      firstSeq: first.seq,
      lastSeq: last.seq + last.events.length - 1,
      bytes: (space) => {
        const known = made.get(space);
        if (known !== undefined) return known;
        const bytes = Buffer.from(commits.map((commit) => this.#format(commit, space)).join(""));
        made.set(space, bytes);
        return bytes;
      },
    };
  }
}
