/**
 * The last caller of each connection. A client sends the same header with every call, and comparing
 * it with the one before costs less than hashing its token. The time of the comparison reveals
 * nothing, because a proxy may send the calls of several callers over one connection.
 */
import { timingSafeEqual } from "node:crypto";
import type { Principal } from "./principal.ts";

/** A caller who has proved who it is. */
export interface Proven {
  readonly principal: Principal;
  readonly untilMs: number;
  /** False: the proof must be checked again, for example because the issuer has withdrawn its key. */
  readonly isCurrent: () => boolean;
}

interface LastCaller {
  readonly header: Buffer;
  readonly proven: Proven;
}

export class LastCallers {
  #byConnection = new WeakMap<object, LastCaller>();

  forgetAll(): void {
    this.#byConnection = new WeakMap();
  }

  recall(connection: object, header: string, nowMs: number): Principal | undefined {
    const last = this.#byConnection.get(connection);
    if (last === undefined || last.header.length !== header.length * 2) return undefined;
    if (!timingSafeEqual(Buffer.from(header, "utf16le"), last.header)) return undefined;
    const { principal, untilMs, isCurrent } = last.proven;
    return nowMs < untilMs && isCurrent() ? principal : undefined;
  }

  remember(connection: object, header: string, proven: Proven): void {
    this.#byConnection.set(connection, { header: Buffer.from(header, "utf16le"), proven });
  }
}
