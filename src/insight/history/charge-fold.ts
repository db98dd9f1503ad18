/**
 * Derives from events what clusters cost: from when they are planned until their destruction is
 * confirmed, or until an operator gives them up. From its grant on, the space of the holder pays, at
 * the price of that moment; before that, nobody does.
 */
import type { State } from "../../core/model/state.ts";

/** A cluster that somebody pays for, or that is kept in stock. */
export interface Charge {
  readonly resource: string;
  readonly instance: string;
  readonly pool: string;
  readonly template: string;
  /** Null: nobody has held it yet. */
  readonly space: string | null;
  /** Per hour. */
  readonly price: number;
  readonly fromAt: number;
}

export interface EndedCharge extends Charge {
  readonly toAt: number;
}

export interface ChargeChanges {
  readonly charges: EndedCharge[];
  /** Null: no longer charged. */
  readonly charged: Map<string, Charge | null>;
  readonly prices: Map<string, number>;
}

export interface ChargeStanding {
  readonly charged?: ReadonlyMap<string, Charge>;
  readonly prices?: ReadonlyMap<string, number>;
}

interface Birth {
  readonly instance: string;
  readonly template: string;
  readonly price: number;
}

export class ChargeFold {
  readonly #charged: Map<string, Charge>;
  readonly #prices: Map<string, number>;
  #changes = noChargeChanges();

  constructor({ charged = new Map(), prices = new Map() }: ChargeStanding = {}) {
    this.#charged = new Map(charged);
    this.#prices = new Map(prices);
  }

  take(): ChargeChanges {
    const changes = this.#changes;
    this.#changes = noChargeChanges();
    return changes;
  }

  /** The price of clusters that are lent from now on. Those that are held keep theirs. */
  priced(pool: string, price: number): void {
    if (this.#prices.get(pool) === price) return;
    this.#prices.set(pool, price);
    this.#changes.prices.set(pool, price);
  }

  planned(resource: string, pool: string, birth: Birth, at: number): void {
    const { instance, template, price } = birth;
    this.#put({ resource, instance, pool, template, space: null, price, fromAt: at });
  }

  granted(resource: string, space: string, at: number): void {
    const charge = this.#charged.get(resource);
    if (charge === undefined || charge.space !== null) return;
    this.#end(charge, at);
    const price = this.#prices.get(charge.pool) ?? charge.price;
    this.#put({ ...charge, space, price, fromAt: at });
  }

  /** It was lent and never used, so it is stock again. */
  unused(resource: string, at: number): void {
    const charge = this.#charged.get(resource);
    if (charge === undefined || charge.space === null) return;
    this.#end(charge, at);
    this.#put({ ...charge, space: null, fromAt: at });
  }

  removed(resource: string, at: number): void {
    const charge = this.#charged.get(resource);
    if (charge === undefined) return;
    this.#end(charge, at);
    this.#charged.delete(resource);
    this.#changes.charged.set(resource, null);
  }

  /** What was charged before is unknown, and what there is now is charged from now on. */
  startOver(state: State, at: number): void {
    for (const resource of [...this.#charged.keys()]) this.removed(resource, at);
    for (const { name, policy } of state.pools.values()) {
      if (policy.cluster !== undefined) this.priced(name, policy.cost ?? 0);
    }
    for (const { name, pool, ...resource } of state.resources.values()) {
      if (resource.sharing === "shared" || resource.cluster === null) continue;
      const { instance, template, price, space } = resource.cluster;
      const known = { instance, template, price, space };
      this.#put({ resource: name, pool: pool.name, ...known, fromAt: at });
    }
  }

  #put(charge: Charge): void {
    this.#charged.set(charge.resource, charge);
    this.#changes.charged.set(charge.resource, charge);
  }

  #end(charge: Charge, at: number): void {
    if (at > charge.fromAt) this.#changes.charges.push({ ...charge, toAt: at });
  }
}

export function noChargeChanges(): ChargeChanges {
  return { charges: [], charged: new Map(), prices: new Map() };
}
