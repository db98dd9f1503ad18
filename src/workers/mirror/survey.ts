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

/** What is to be done so that the objects say what is lent; a part of it, if it is much. */
export interface Survey {
  readonly remove: readonly LeaseObject[];
  readonly write: readonly Write[];
  readonly renew: readonly Write[];
  /** How many objects say something wrong, or are missing, or are too many. */
  readonly behind: number;
}

/**
 * Compares everything that is lent with everything that is there, a slice at a time and only between
 * two commits: nobody waits for it, and nothing is shown that is not durable.
 */
export async function survey(
  broker: Broker,
  board: LeaseBoard,
  spec: MirrorSpec,
  blocked: Blocked,
): Promise<Survey> {
  const found = new Findings(board, spec, blocked);
  for (let slice = await broker.look((state) => found.begin(state)); slice; ) {
    await new Promise(setImmediate);
    slice = await broker.look((state) => found.go(state));
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

  /** False: all has been compared. A state that was read back from the journal is looked at next time. */
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
    if (deletionTimestamp !== undefined) return; // Somebody's finalizer holds it back.
    this.behind += 1;
    keep(this.remove, object);
  }
}

function keep<Item>(list: Item[], item: Item): void {
  if (list.length < mirrorLimits.todoMax) list.push(item);
}
