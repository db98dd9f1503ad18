import type { Command } from "../core/model/command.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { Instant } from "../core/model/time.ts";
import { BrokerOverloaded } from "./broker-contract.ts";

/** The largest number of commands in one commit. It limits how long one turn takes. */
const batchMax = 4_096;

/** A command with the promise that its sender awaits. */
export interface QueuedCommand {
  readonly command: Command;
  readonly arrivedAt: Instant;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** Commands that are not decided yet, in the order in which they arrived. */
export class CommandQueue {
  readonly #lengthMax: number;
  #queued: QueuedCommand[] = [];

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get length(): number {
    return this.#queued.length;
  }

  get first(): QueuedCommand | undefined {
    return this.#queued[0];
  }

  /** Rejects at once with `BrokerOverloaded` if the queue is full. */
  add(command: Command, arrivedAt: Instant): Promise<Outcome> {
    if (this.length >= this.#lengthMax) {
      const message = `Cannot decide: ${this.#lengthMax} commands are already queued`;
      return Promise.reject(new BrokerOverloaded(message));
    }
    return new Promise((resolve, reject) => {
      this.#queued.push({ command, arrivedAt, resolve, reject });
    });
  }

  takeBatch(): readonly QueuedCommand[] {
    const all = this.#queued;
    this.#queued = all.slice(batchMax);
    return all.length <= batchMax ? all : all.slice(0, batchMax);
  }

  /** Puts a batch back at the front of the queue, because it arrived first. */
  requeue(batch: readonly QueuedCommand[]): void {
    this.#queued = [...batch, ...this.#queued];
  }

  rejectAll(error: Error): void {
    const rejected = this.#queued;
    this.#queued = [];
    for (const { reject } of rejected) reject(error);
  }
}
