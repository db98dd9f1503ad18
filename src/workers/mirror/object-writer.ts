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
  /** Called once for each object that is left unchanged, with the reason. */
  readonly left: (name: string, why: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Writes objects one after the other. It changes an object only in the version that it has seen.
 */
export class ObjectWriter {
  readonly #parts: WriterParts;
  #notBeforeMs = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * Throws if no write is possible. A 403 can mean a missing right for all objects, or that a quota
   * or a webhook rejects this one object. So the writer tries the other objects before it decides.
   */
  async writeAll(items: readonly (LeaseObject | Write)[], onSuccess: () => void): Promise<void> {
    const forbidden = new Map<string, Problem>();
    let worked = false;
    for (const item of items) {
      const name = "metadata" in item ? item.metadata.name : item.name;
      try {
        if (!(await this.#put(item, name))) continue;
        worked = true;
        onSuccess();
      } catch (error) {
        if (!isForbidden(error)) throw error;
        forbidden.set(name, error);
      }
    }
    const [first] = forbidden.values();
    if (first !== undefined && !worked) throw first;
    for (const [name, { message }] of forbidden) this.#leave(name, message);
  }

  /** Returns whether there was something to write. Handles errors that concern only this object. */
  async #put(item: LeaseObject | Write, name: string): Promise<boolean> {
    const { signal } = this.#parts;
    await pause(Math.max(0, this.#notBeforeMs - performance.now()), signal);
    this.#notBeforeMs = performance.now() + mirrorLimits.writeGapMs;
    try {
      return await ("metadata" in item ? this.#remove(item) : this.#write(item));
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) await this.#refresh(name);
      else if (isInvalidObject(error)) this.#leave(name, error.message);
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

  /** Writes the claim as it is now, which may differ from its state during the survey. */
  async #write({ name, lease, claim }: Write): Promise<boolean> {
    const { broker, spec, store, board, written, signal } = this.#parts;
    const seen = board.get(name);
    const wanted = await broker.read(({ leases }) => {
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

  /** Another writer changed the object, or owns an object with this name. */
  async #refresh(name: string): Promise<void> {
    const { store, board, spec, signal } = this.#parts;
    const current = await store.get(name, { signal });
    if (current !== undefined && isOurs(current, spec)) return board.note(current);
    board.forget(name);
    if (current !== undefined) this.#leave(name, "a Lease with this name belongs to another owner");
  }

  #leave(name: string, why: string): void {
    const { blocked, left } = this.#parts;
    if (blocked.add(name, why)) left(name, why);
  }
}

function isForbidden(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 403;
}

/** The API server rejects this object; other objects may still be valid. */
function isInvalidObject(error: unknown): error is Problem {
  return error instanceof Problem && [400, 413, 422].includes(error.status);
}
