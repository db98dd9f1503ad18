/** Where to begin reading a journal whose first events may be pruned. */
import { emptyState } from "../../core/apply/create.ts";
import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import type { State } from "../../core/model/state.ts";
import { type Journal, JournalPruned } from "../../journal/journal.ts";

export interface KnownState {
  readonly state: State;
  readonly at: number;
  /** The number of the last event in the state. */
  readonly seq: number;
}

/** The beginning of the journal, or its snapshot if the beginning was pruned. */
export async function oldestKnown(
  journal: Pick<Journal, "read" | "loadSnapshot">,
  now: number,
): Promise<KnownState> {
  let at = now;
  try {
    for await (const first of journal.read(0)) {
      at = first.at;
      break;
    }
  } catch (cause) {
    if (!(cause instanceof JournalPruned)) throw cause;
    return await lastSnapshot(journal, now);
  }
  return { state: emptyState(), at, seq: 0 };
}

/** Returns an empty state if there is no snapshot. */
export async function lastSnapshot(
  journal: Pick<Journal, "loadSnapshot">,
  now: number,
): Promise<KnownState> {
  const snapshot = await journal.loadSnapshot();
  if (snapshot === undefined) return { state: emptyState(), at: now, seq: 0 };
  const { seq, at, state } = snapshot;
  return { state: thaw(JSON.parse(state) as FrozenState), at, seq };
}
