/**
 * Whether answers that another server passes on have arrived. The leader sees only the connection to
 * that server, so it waits for its word.
 */

/** In an answer of the leader: it wants to know whether the answer arrived. */
export const deliveryHeader = "berth-delivery";

/**
 * Without a word for this long it counts as arrived, because the other server may have died after it
 * had passed the answer on: nothing is taken from a holder that may know of it.
 */
const wordMsMax = 10_000;

export interface DeliveryWord {
  /** As the server that passes the call on has called it. */
  readonly id: string;
  readonly arrived: boolean;
}

export class RelayedDeliveries {
  readonly #awaited = new Map<string, (arrived: boolean) => void>();

  /** `end` is called once. */
  expect(id: string, end: (arrived: boolean) => void): void {
    const timer = setTimeout(() => this.word({ id, arrived: true }), wordMsMax).unref();
    this.#awaited.set(id, (arrived) => {
      this.#awaited.delete(id);
      clearTimeout(timer);
      end(arrived);
    });
  }

  word({ id, arrived }: DeliveryWord): void {
    this.#awaited.get(id)?.(arrived);
  }
}
