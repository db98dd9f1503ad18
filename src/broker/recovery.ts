import { apply } from "../core/apply/apply.ts";
import { emptyState } from "../core/apply/create.ts";
import { type FrozenState, thaw } from "../core/apply/snapshot.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import { type Journal, JournalDamaged, JournalPruned, type Recorded } from "../journal/journal.ts";

export interface Recovered {
  readonly state: State;
  readonly head: number;
  /** The time of the last event; 0 if the journal is empty. */
  readonly at: Instant;
  /** The number of events after the last snapshot. */
  readonly replayed: number;
}

/**
 * Builds the state from the last snapshot in the journal and all events after it. The caller must
 * give grace before it decides anything, because the journal contains no heartbeats.
 */
export async function recover(journal: Pick<Journal, "loadSnapshot" | "read">): Promise<Recovered> {
  const snapshot = await journal.loadSnapshot();
  let at = snapshot?.at ?? (0 as Instant);
  let head = snapshot?.seq ?? 0;
  const start = head;
  const state = orDamaged(`the snapshot of event ${head}`, () =>
    snapshot === undefined ? emptyState() : thaw(JSON.parse(snapshot.state) as FrozenState),
  );
  for await (const commit of withoutGap(journal.read(head))) {
    if (commit.seq !== head + 1) {
      throw new JournalDamaged(`Cannot recover: event ${commit.seq} follows event ${head}`);
    }
    orDamaged(`event ${commit.seq}`, () => {
      for (const event of commit.events) apply(state, event, commit.at);
    });
    head += commit.events.length;
    at = commit.at;
  }
  return { state, head, at, replayed: head - start };
}

/** A snapshot covers all pruned events, so an event that is missing after it was lost. */
async function* withoutGap(commits: AsyncIterable<Recorded>): AsyncIterable<Recorded> {
  try {
    yield* commits;
  } catch (cause) {
    if (!(cause instanceof JournalPruned)) throw cause;
    throw new JournalDamaged(`Cannot recover: ${cause.message}`, { cause });
  }
}

function orDamaged<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JournalDamaged(`Cannot recover from ${what}: ${why}`, { cause });
  }
}
