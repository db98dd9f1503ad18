import type { FastifyRequest } from "fastify";
import type { Problem } from "../api/problem.ts";
import { addressKey } from "../auth/address-key.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { callerOf } from "./authorize.ts";
import { callerAddress } from "./proxies.ts";

interface Bounds {
  /** Of one caller at a time. */
  readonly perCaller: number;
  /** Of all callers together. Absent: another part of the server bounds them. */
  readonly max?: number;
  /** The answer to one too many: the caller has `count` already, or all callers together have. */
  readonly refusal: (count: number, whose: "yours" | "all") => Problem;
}

/**
 * What the server has only so many of, such as feeds: a caller gets a share of it, so that others find
 * some. Without authentication nobody can be told apart, and everybody shares the whole.
 */
export class CallerShares {
  readonly #auth: Pick<Authenticator, "isOn">;
  readonly #bounds: Bounds;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(auth: Pick<Authenticator, "isOn">, bounds: Bounds) {
    this.#auth = auth;
    this.#bounds = bounds;
  }

  /** Takes one. Throws a Problem if there is none for this caller. Dispose of it to give it back. */
  take(request: FastifyRequest): Disposable {
    const { max = Number.POSITIVE_INFINITY, perCaller, refusal } = this.#bounds;
    const caller = keyOf(request);
    const own = this.#taken.get(caller) ?? 0;
    if (this.#auth.isOn && own >= perCaller) throw refusal(own, "yours");
    if (this.#all >= max) throw refusal(this.#all, "all");
    this.#taken.set(caller, own + 1);
    this.#all += 1;
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.#giveBack(caller);
        isTaken = false;
      },
    };
  }

  #giveBack(caller: string): void {
    const left = (this.#taken.get(caller) ?? 1) - 1;
    if (left === 0) this.#taken.delete(caller);
    else this.#taken.set(caller, left);
    this.#all -= 1;
  }
}

/** Anonymous callers are told apart by their address, as for the limits of calls. */
function keyOf(request: FastifyRequest): string {
  const { name, space, proof } = callerOf(request);
  return proof === "none"
    ? `@${addressKey(callerAddress(request))}`
    : JSON.stringify([name, space]);
}
