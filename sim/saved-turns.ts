import { edit } from "../src/core/apply/edit.ts";
import { mayStarveAgain } from "../src/core/apply/starved.ts";
import type { BrokerEvent } from "../src/core/model/event.ts";
import type { Request, State } from "../src/core/model/state.ts";

/**
 * A planted bug: a leader that went ahead of the shares, and then lost a member of its group, counts as
 * ahead until it leaves, and gives back a turn then.
 */
export class SavedTurns {
  readonly #leaders = new Map<string, Request>();

  record(events: readonly BrokerEvent[], state: State): void {
    for (const event of events) {
      if (event.type === "priority-changed" && event.starved === true) {
        const request = state.requests.get(event.id);
        if (request !== undefined && request.gang !== null) this.#leaders.set(event.id, request);
      }
      if (event.type === "lease-granted") this.#leaders.delete(event.id);
      if (event.type === "request-left") this.#left(event.id);
    }
  }

  #left(id: string): void {
    const leader = this.#leaders.get(id);
    this.#leaders.delete(id);
    if (leader === undefined || leader.space === null) return;
    for (const { pool } of leader.needs) edit(leader.space.turns).delete(pool);
    mayStarveAgain(leader.space);
  }
}
