import { apply } from "../core/apply/apply.ts";
import { emptyState } from "../core/apply/create.ts";
import { type FrozenState, thaw } from "../core/apply/snapshot.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import { type Journal, JournalDamaged, JournalPruned, type Snapshot } from "../journal/journal.ts";

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
  for (let snapshot = await journal.loadSnapshot(); ; ) {
    try {
      return await replay(snapshot, journal);
    } catch (cause) {
      if (!(cause instanceof JournalPruned)) throw cause;
      // Another server may have saved a later snapshot meanwhile, and pruned what that covers.
      const later = await journal.loadSnapshot();
      if (later === undefined || later.seq <= (snapshot?.seq ?? 0)) {
        throw new JournalDamaged(`Cannot recover: ${cause.message}`, { cause });
      }
      snapshot = later;
    }
  }
}

async function replay(
  snapshot: Snapshot | undefined,
  journal: Pick<Journal, "read">,
): Promise<Recovered> {
  let at = snapshot?.at ?? (0 as Instant);
  let head = snapshot?.seq ?? 0;
  const start = head;
  const state = orDamaged(`the snapshot of event ${head}`, () =>
    snapshot === undefined ? emptyState() : thaw(JSON.parse(snapshot.state) as FrozenState),
  );
  for await (const commit of journal.read(head)) {
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

function orDamaged<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JournalDamaged(`Cannot recover from ${what}: ${why}`, { cause });
  }
}
