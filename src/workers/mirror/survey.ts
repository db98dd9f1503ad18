import type { Broker } from "../../broker/broker.ts";
import type { MirrorSpec } from "../../config/read-mirror.ts";
import type { ClaimId, RequestId } from "../../core/model/ids.ts";
import type { Lease, State } from "../../core/model/state.ts";
import type { LeaseObject } from "../../kubernetes/kube-objects.ts";
import type { LeaseBoard } from "../../kubernetes/lease-board.ts";
import type { Blocked } from "./blocked.ts";
import { compare, isWanted } from "./lease-object.ts";
import { mirrorLimits } from "./limits.ts";
import { objectName } from "./object-name.ts";

export interface Write {
  readonly name: string;
  readonly lease: RequestId;
  readonly claim: ClaimId;
}

/** The writes that make the objects equal to the leases, or the first part of them. */
export interface Survey {
  readonly remove: readonly LeaseObject[];
  readonly write: readonly Write[];
  readonly renew: readonly Write[];
  /** The number of objects that are wrong, missing or left over. */
  readonly behind: number;
}

/**
 * Compares all leases with all objects, in slices between two commits. So it delays no command, and
 * it sees only durable leases.
 */
export async function survey(
  broker: Broker,
  board: LeaseBoard,
  spec: MirrorSpec,
  blocked: Blocked,
): Promise<Survey> {
  const found = new Findings(board, spec, blocked);
  for (let slice = await broker.read((state) => found.begin(state)); slice; ) {
    await new Promise(setImmediate);
    slice = await broker.read((state) => found.go(state));
  }
  return found;
}

class Findings implements Survey {
  readonly remove: LeaseObject[] = [];
  readonly write: Write[] = [];
  readonly renew: Write[] = [];
  behind = 0;
  readonly #board: LeaseBoard;
  readonly #spec: MirrorSpec;
  readonly #blocked: Blocked;
  #state: State | undefined;
  #leases: Iterator<Lease> = [].values();
  #objects: Iterator<LeaseObject> = [].values();

  constructor(board: LeaseBoard, spec: MirrorSpec, blocked: Blocked) {
    this.#board = board;
    this.#spec = spec;
    this.#blocked = blocked;
  }

  begin(state: State): boolean {
    this.#state = state;
    this.#leases = state.leases.values();
    this.#objects = this.#board.all()[Symbol.iterator]();
    return this.go(state);
  }

  /**
   * Compares one slice. Returns false when everything is compared. After a reload of the journal,
   * the state is a new object, and the next survey starts again.
   */
  go(state: State): boolean {
    if (state !== this.#state) return false;
    for (let looked = 0; looked < mirrorLimits.sliceMax; looked++) {
      const lease = this.#leases.next();
      if (lease.done) {
        const object = this.#objects.next();
        if (object.done) return false;
        this.#judge(state, object.value);
      } else {
        this.#expect(lease.value);
      }
    }
    return true;
  }

  #expect({ id: lease, claims }: Lease): void {
    for (const claim of claims) {
      const name = objectName(this.#spec.prefix, claim);
      if (this.#blocked.has(name)) continue;
      const seen = this.#board.get(name);
      const differs = seen === undefined ? "wrong" : compare(this.#spec, claim, seen);
      if (differs === "none") continue;
      const write = { name, lease, claim: claim.id };
      if (differs === "stale") {
        keep(this.renew, write);
      } else {
        this.behind += 1;
        keep(this.write, write);
      }
    }
  }

  #judge(state: State, object: LeaseObject): void {
    const { name, deletionTimestamp } = object.metadata;
    if (isWanted(state, this.#spec, object) || this.#blocked.has(name)) return;
    // A finalizer of another controller delays the deletion.
    if (deletionTimestamp !== undefined) return;
    this.behind += 1;
    keep(this.remove, object);
  }
}

function keep<Item>(list: Item[], item: Item): void {
  if (list.length < mirrorLimits.batchMax) list.push(item);
}
