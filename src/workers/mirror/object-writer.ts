import { Problem } from "../../api/problem.ts";
import type { Broker } from "../../broker/broker.ts";
import { pause } from "../../client/pause.ts";
import type { MirrorSpec } from "../../config/read-mirror.ts";
import { isConflict, isNotFound } from "../../kubernetes/errors.ts";
import type { LeaseObject } from "../../kubernetes/kube-objects.ts";
import type { LeaseBoard } from "../../kubernetes/lease-board.ts";
import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import type { Blocked } from "./blocked.ts";
import { isOurs, leaseObject } from "./lease-object.ts";
import { mirrorLimits } from "./limits.ts";
import type { Write } from "./survey.ts";

export interface Written {
  created: number;
  updated: number;
  deleted: number;
}

export interface WriterParts {
  readonly broker: Broker;
  readonly spec: MirrorSpec;
  readonly store: LeaseStore;
  readonly board: LeaseBoard;
  readonly written: Written;
  readonly blocked: Blocked;
  /** Told once for each object that is left alone, and why. */
  readonly left: (name: string, why: string) => void;
  readonly signal: AbortSignal;
}

/** Puts one object right after the other. It touches none that is not as it was last seen. */
export class ObjectWriter {
  readonly #parts: WriterParts;
  #notBeforeMs = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * Throws if nothing can be written at all. That one is forbidden may be for want of the right, or be
   * the word of a quota or a webhook about this one: the others tell, so none waits behind it.
   */
  async putAll(items: readonly (LeaseObject | Write)[], works: () => void): Promise<void> {
    const forbidden = new Map<string, Problem>();
    let worked = false;
    for (const item of items) {
      const name = "metadata" in item ? item.metadata.name : item.name;
      try {
        if (!(await this.#put(item, name))) continue;
        worked = true;
        works();
      } catch (error) {
        if (!isForbidden(error)) throw error;
        forbidden.set(name, error);
      }
    }
    const [first] = forbidden.values();
    if (first !== undefined && !worked) throw first;
    for (const [name, { message }] of forbidden) this.#leave(name, message);
  }

  /** Whether anything was to be written. What concerns this object alone it sees to itself. */
  async #put(item: LeaseObject | Write, name: string): Promise<boolean> {
    const { signal } = this.#parts;
    await pause(Math.max(0, this.#notBeforeMs - performance.now()), signal);
    this.#notBeforeMs = performance.now() + mirrorLimits.writeGapMs;
    try {
      return await ("metadata" in item ? this.#remove(item) : this.#write(item));
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) await this.#lookAgain(name);
      else if (concernsOne(error)) this.#leave(name, error.message);
      else throw error;
      return true;
    }
  }

  async #remove(object: LeaseObject): Promise<boolean> {
    const { store, board, written, signal } = this.#parts;
    await store.remove(object, { signal });
    board.forget(object.metadata.name);
    written.deleted += 1;
    return true;
  }

  /** As it is lent at this moment, which may be otherwise than when it was found to be wrong. */
  async #write({ name, lease, claim }: Write): Promise<boolean> {
    const { broker, spec, store, board, written, signal } = this.#parts;
    const seen = board.get(name);
    const wanted = await broker.look(({ leases }) => {
      const found = leases.get(lease)?.claims.find(({ id }) => id === claim);
      return found && leaseObject(spec, found, seen);
    });
    if (wanted === undefined) return false;
    if (seen === undefined) {
      board.note(await store.create(wanted, { signal }));
      written.created += 1;
    } else {
      board.note(await store.replace(wanted, { signal }));
      written.updated += 1;
    }
    return true;
  }

  /** Somebody else was faster, or has an object of that name. */
  async #lookAgain(name: string): Promise<void> {
    const { store, board, spec, signal } = this.#parts;
    const there = await store.get(name, { signal });
    if (there !== undefined && isOurs(there, spec)) return board.note(there);
    board.forget(name);
    if (there !== undefined) this.#leave(name, "somebody else has a Lease of this name");
  }

  #leave(name: string, why: string): void {
    const { blocked, left } = this.#parts;
    if (blocked.add(name, why)) left(name, why);
  }
}

function isForbidden(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 403;
}

/** The API server does not take this object; that says nothing about the others. */
function concernsOne(error: unknown): error is Problem {
  return error instanceof Problem && [400, 413, 422].includes(error.status);
}
