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
 * The replies under way that grant a lease to a client without a token. If one of them fails, that
 * means nothing if another arrives, or has arrived before: a client that asks twice may have read the
 * first answer. Leases that are older than this process count as delivered, since nothing is known.
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
      .catch(() => {}); // It is closing.
  }

  begin(leases: readonly LeaseView[]): void {
    for (const { id, told: sent } of leases) {
      const { open = 0, arrived = false } = this.#underWay.get(id) ?? {};
      this.#underWay.set(id, { open: open + 1, arrived, sent });
    }
  }

  /** A reply has been written out, or its connection broke. */
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

  /** The lease may have ended before its reply was written out; then no event removes it here. */
  #remember(id: RequestId): void {
    if (this.#arrived.has(id)) return;
    this.#arrived.add(id);
    const check = this.#broker.look(({ leases }) => leases.has(id) || this.#arrived.delete(id));
    check.catch(() => {}); // Nothing is known now; one id too many does no harm.
  }

  /** If even this cannot be committed, a reaper takes the lease back in the end. */
  #report(id: RequestId, sent: number): void {
    this.#broker.submit({ type: "not-delivered", id, told: sent }).catch(() => {});
  }
}
