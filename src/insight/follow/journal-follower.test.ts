import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { DurableEvent } from "../../core/model/event.ts";
import { at, left } from "../../journal/journal.suite.ts";
import type { Recorded } from "../../journal/journal.ts";
import { type Derived, type Followed, JournalFollower } from "./journal-follower.ts";

/** Counts events, and stores them without any work. */
class Count implements Derived {
  readonly isPrepared = true;
  stored = 0;
  reached = 0;

  get unsaved(): number {
    return this.reached - this.stored;
  }

  async prepare(): Promise<void> {}

  follow({ seq, events }: Recorded): void {
    this.reached = seq + events.length - 1;
  }

  save(): void {
    this.stored = this.reached;
  }

  reload(): void {}

  async startOver(): Promise<void> {}

  forget(): boolean {
    return false;
  }

  sync(): void {}

  close(): void {}
}

/** So many that it is a burst even if the machine stands still for seconds. */
const eventsPerCommit = 100_000;
/** Over three of the times for which a follower collects events. */
const commitsInBurst = 24;

test("JournalFollower waits for the end of a burst, also if its own thread has nothing to do", async () => {
  const commits: Recorded[] = [];
  const events: readonly DurableEvent[] = Array.from({ length: eventsPerCommit }, () => left(1));
  let committed: (recorded: Recorded) => void = () => {};
  const followed: Followed = {
    get head() {
      return commits.length * eventsPerCommit;
    },
    now: () => 0,
    listen: (listener) => {
      committed = listener.committed;
      return () => {};
    },
  };
  const journal = {
    async *read(seq: number) {
      for (const commit of commits) if (commit.seq > seq) yield commit;
    },
  };
  const count = new Count();
  const sliceEvents = eventsPerCommit;
  const follower = new JournalFollower(count, journal, followed, { everyMs: 200, sliceEvents });
  await follower.caughtUp();
  for (let commit = 0; commit < commitsInBurst; commit += 1) {
    commits.push({ seq: commit * eventsPerCommit + 1, at: at(commit), events });
    for (const recorded of commits.slice(-1)) committed(recorded);
    await setTimeout(25);
  }
  expect(count.stored).toBe(0);
  while (follower.lag > 0) await setTimeout(5);
  expect(count.stored).toBe(commitsInBurst * eventsPerCommit);
  await follower.close();
});
