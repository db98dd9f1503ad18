import type { LeaseView } from "../core/explain/view.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { Broker } from "./broker.ts";

interface Replies {
  open: number;
  arrived: boolean;
  /** How many replies had granted the lease by then, this one included. */
  readonly sent: number;
}

/**
 * Tracks the replies that carry a lease whose holder sends no token. If the only reply is lost, the
 * client does not know its lease, so the broker must learn that it was not delivered. A lost reply
 * does not matter if another reply for the same lease arrives or has arrived: the client may have
 * repeated its call after the first answer. Nothing is known about replies from before this process
 * started, so leases that are older than the process count as delivered.
 */
export class Deliveries {
  readonly #broker: Broker;
  readonly #underWay = new Map<RequestId, Replies>();
  readonly #arrived = new Set<RequestId>();

  constructor(broker: Broker) {
    this.#broker = broker;
    broker.listen({
      committed: ({ events }) => {
        for (const event of events)
          if (event.type === "lease-ended") this.#arrived.delete(event.id);
      },
    });
    void broker
      .look(({ leases }) => {
        for (const { id, ask, delivered } of leases.values()) {
          const isPolled = ask.byName === true || ask.presenceMs !== undefined;
          if (isPolled && delivered) this.#arrived.add(id);
        }
      })
      .catch(() => {}); // The broker is closing.
  }

  begin(leases: readonly LeaseView[]): void {
    for (const { id, told: sent } of leases) {
      const { open = 0, arrived = false } = this.#underWay.get(id) ?? {};
      this.#underWay.set(id, { open: open + 1, arrived, sent });
    }
  }

  /** A reply was written to its connection, or the connection was lost. */
  end(leases: readonly LeaseView[], arrived: boolean): void {
    for (const { id } of leases) {
      const replies = this.#underWay.get(id);
      if (replies === undefined) continue;
      replies.open -= 1;
      replies.arrived ||= arrived;
      if (replies.open > 0) continue;
      this.#underWay.delete(id);
      if (replies.arrived) this.#remember(id);
      else if (!this.#arrived.has(id)) this.#report(id, replies.sent);
    }
  }

  /**
   * The lease may have ended before its reply was written. No later event would then remove the id,
   * so this checks whether the lease still exists.
   */
  #remember(id: RequestId): void {
    if (this.#arrived.has(id)) return;
    this.#arrived.add(id);
    const check = this.#broker.look(({ leases }) => leases.has(id) || this.#arrived.delete(id));
    check.catch(() => {}); // The state is not readable. An id that stays in the set is harmless.
  }

  /** If the journal cannot record this, the lease expires by its own deadline in the end. */
  #report(id: RequestId, sent: number): void {
    this.#broker.submit({ type: "not-delivered", id, told: sent }).catch(() => {});
  }
}
