import { apply } from "../core/apply.ts";
import { type FrozenState, thaw } from "../core/snapshot.ts";
import { emptyState, type State } from "../core/state.ts";
import type { Instant } from "../core/time.ts";
import type { Journal } from "../journal/journal.ts";

export interface Recovered {
  readonly state: State;
  readonly head: number;
  /** When the last thing happened; 0 for an empty journal. */
  readonly at: Instant;
  /** Events that the last snapshot did not cover. */
  readonly replayed: number;
}

/**
 * The state that the journal amounts to: its last snapshot and all that came after. Whoever goes on
 * with it gives grace first.
 */
export async function recover(journal: Journal): Promise<Recovered> {
  const snapshot = await journal.loadSnapshot();
  const state =
    snapshot === undefined ? emptyState() : thaw(JSON.parse(snapshot.state) as FrozenState);
  let at = snapshot?.at ?? (0 as Instant);
  let head = snapshot?.seq ?? 0;
  const start = head;
  for await (const commit of journal.read(head)) {
    if (commit.seq !== head + 1) {
      throw new Error(`Cannot recover: event ${commit.seq} follows event ${head} in the journal`);
    }
    for (const event of commit.events) apply(state, event, commit.at);
    head += commit.events.length;
    at = commit.at;
  }
  return { state, head, at, replayed: head - start };
}
