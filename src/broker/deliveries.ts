import type { RequestId } from "../core/ids.ts";
import type { LeaseView } from "../core/view.ts";
import type { Broker } from "./broker.ts";

interface Replies {
  open: number;
  arrived: boolean;
  readonly told: number;
  /** The lease has ended meanwhile. */
  over: boolean;
}

/**
 * The replies under way that tell of a lease whose holder sends no token. One that fails means nothing
 * if another arrives, or has arrived before: whoever asks twice may have heard the first answer. Of
 * leases that are older than this process nobody knows, so they count as told.
 */
export class Deliveries {
  readonly #broker: Broker;
  readonly #underWay = new Map<RequestId, Replies>();
  readonly #arrived = new Set<RequestId>();

  constructor(broker: Broker) {
    this.#broker = broker;
    broker.listen({
      committed: ({ events }) => {
        for (const event of events) if (event.type === "lease-ended") this.#forget(event.id);
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
    for (const { id, told } of leases) {
      const { open = 0, arrived = false } = this.#underWay.get(id) ?? {};
      this.#underWay.set(id, { open: open + 1, arrived, told, over: false });
    }
  }

  /** A reply is out of the house, or its connection broke. */
  end(leases: readonly LeaseView[], arrived: boolean): void {
    for (const { id } of leases) {
      const replies = this.#underWay.get(id);
      if (replies === undefined) continue;
      replies.open -= 1;
      replies.arrived ||= arrived;
      if (replies.open > 0) continue;
      this.#underWay.delete(id);
      if (replies.over) continue;
      if (replies.arrived) this.#remember(id);
      else if (!this.#arrived.has(id)) this.#report(id, replies.told);
    }
  }

  /** It may have ended in the very commit that answered for it; nobody says so again then. */
  #remember(id: RequestId): void {
    if (this.#arrived.has(id)) return;
    this.#arrived.add(id);
    const check = this.#broker.look(({ leases }) => leases.has(id) || this.#arrived.delete(id));
    check.catch(() => {}); // Nothing is known now; one id too many does no harm.
  }

  #forget(id: RequestId): void {
    this.#arrived.delete(id);
    const replies = this.#underWay.get(id);
    if (replies !== undefined) replies.over = true;
  }

  /** If even this cannot be written down, the reaper has it in the end. */
  #report(id: RequestId, told: number): void {
    this.#broker.submit({ type: "not-delivered", id, told }).catch(() => {});
  }
}
