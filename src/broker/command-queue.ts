import type { Command } from "../core/model/command.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { Instant } from "../core/model/time.ts";
import { BrokerOverloaded } from "./broker-contract.ts";

/** Commands decided and committed together at the most; it bounds how long one turn takes. */
const batchMax = 4_096;

/** A command whose sender waits for the answer. */
export interface Pending {
  readonly command: Command;
  readonly arrivedAt: Instant;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** Commands that wait to be decided, in the order of their arrival. */
export class CommandQueue {
  readonly #lengthMax: number;
  #pending: Pending[] = [];

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get length(): number {
    return this.#pending.length;
  }

  get first(): Pending | undefined {
    return this.#pending[0];
  }

  /** Rejects with `BrokerOverloaded` at once where too many wait. */
  add(command: Command, arrivedAt: Instant): Promise<Outcome> {
    if (this.length >= this.#lengthMax) {
      const message = `Cannot decide: ${this.#lengthMax} commands are already queued`;
      return Promise.reject(new BrokerOverloaded(message));
    }
    return new Promise((resolve, reject) => {
      this.#pending.push({ command, arrivedAt, resolve, reject });
    });
  }

  take(): readonly Pending[] {
    const all = this.#pending;
    this.#pending = all.slice(batchMax);
    return all.length <= batchMax ? all : all.slice(0, batchMax);
  }

  /** Before all others: they came first. */
  putBack(batch: readonly Pending[]): void {
    this.#pending = [...batch, ...this.#pending];
  }

  refuseAll(error: Error): void {
    const refused = this.#pending;
    this.#pending = [];
    for (const { reject } of refused) reject(error);
  }
}
