/**
 * Sessions of the page. The cookie has what proves who the user is, and the end of the session,
 * encrypted with a key of the journal. The server stores nothing, and the proof is checked again with
 * each call: a token that is removed, and a rule that is changed, count at once.
 */
import { hash } from "node:crypto";
import type { Claims } from "./issuers/claims.ts";
import { Sealer } from "./sealer.ts";

/** A working day. Afterwards the user signs in again. */
export const sessionMs = 8 * 3_600_000;
export const sessionTokenLengthMax = 2_048;
/** Browsers refuse cookies with more than 4096 characters, its name and attributes included. */
export const sessionLengthMax = 3_900;

/** Who signed in through an issuer: the claims that its rules use, and nothing else of the token. */
export interface SignedIn {
  readonly issuer: string;
  readonly client: string;
  readonly claims: Claims;
}

/** What a session stands for: a token of the user, or a sign-in through an issuer. */
export type SessionProof = { readonly token: string } | { readonly signedIn: SignedIn };

export type Session = SessionProof & {
  /** Says nothing about the user. */
  readonly id: string;
  readonly untilMs: number;
};

export class Sessions {
  readonly #sealer: Sealer<SessionProof & { readonly untilMs: number }>;
  readonly #nowMs: () => number;

  constructor(secret: string, nowMs: () => number = Date.now) {
    this.#sealer = new Sealer(secret, "berth session");
    this.#nowMs = nowMs;
  }

  /** Begins a session. `value` is for the cookie. */
  start(proof: SessionProof, lengthMs = sessionMs): Session & { readonly value: string } {
    const untilMs = this.#nowMs() + lengthMs;
    const value = this.#sealer.seal({ ...proof, untilMs });
    return { ...proof, untilMs, value, id: sessionId(value) };
  }

  /** Returns undefined if the session is over, or if the value is not ours. */
  open(value: string): Session | undefined {
    const found = this.#sealer.open(value);
    if (found === undefined || !(found.untilMs > this.#nowMs())) return undefined;
    return { ...found, id: sessionId(value) };
  }
}

/** The page remembers which session it has started. */
function sessionId(value: string): string {
  return hash("sha256", value, "base64url").slice(0, 22);
}
