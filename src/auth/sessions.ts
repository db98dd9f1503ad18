/**
 * Sessions of the page. The cookie has what proves who the user is, and the end of the session,
 * encrypted with a key of the journal. The server stores nothing, and the proof is checked again with
 * each call: a token that is removed, and a rule that is changed, count at once.
 */
import { hash, randomBytes } from "node:crypto";
import type { Claims } from "./issuers/claims.ts";
import { Sealer } from "./sealer.ts";

/** A working day: how long a session lasts if nobody uses it. */
export const sessionMs = 8 * 3_600_000;
/** A session with a token is renewed while it is in use, for at most this time. */
export const sessionMsMax = 24 * 3_600_000;
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

interface Times {
  /** When it ends if nobody uses it. */
  readonly untilMs: number;
  /** Its length, and when it ends whatever happens. Absent: an older Berth has begun it. */
  readonly lengthMs?: number;
  readonly endsAtMs?: number;
}

export type Session = SessionProof &
  Times & {
    /** Says nothing about the user, and stays when the session is renewed. */
    readonly id: string;
  };

/** A session, and the value for its cookie. */
export type SealedSession = Session & { readonly value: string; readonly leftMs: number };

type Sealed = SessionProof & Times & { readonly id?: string };

export class Sessions {
  readonly #sealer: Sealer<Sealed>;
  readonly #nowMs: () => number;

  constructor(secret: string, nowMs: () => number = Date.now) {
    this.#sealer = new Sealer(secret, "berth session");
    this.#nowMs = nowMs;
  }

  /** Begins a session. It is renewed for at most `mostMs`. */
  start(proof: SessionProof, lengthMs = sessionMs, mostMs = sessionMsMax): SealedSession {
    const now = this.#nowMs();
    const id = randomBytes(idBytes).toString("base64url");
    return this.#seal({ ...proof, id, untilMs: now + lengthMs, lengthMs, endsAtMs: now + mostMs });
  }

  /** The session for longer, once half of its time is over; undefined if it stays as it is. */
  renew(session: Session): SealedSession | undefined {
    const { lengthMs, endsAtMs, untilMs } = session;
    const now = this.#nowMs();
    if (lengthMs === undefined || endsAtMs === undefined || untilMs - now > lengthMs / 2) {
      return undefined;
    }
    const renewedUntilMs = Math.min(now + lengthMs, endsAtMs);
    // Near its last end every call would get a cookie for a moment more.
    if (renewedUntilMs - untilMs < lengthMs / 10) return undefined;
    return this.#seal({ ...session, untilMs: renewedUntilMs });
  }

  #seal(session: Session): SealedSession {
    const leftMs = session.untilMs - this.#nowMs();
    return { ...session, value: this.#sealer.seal(session), leftMs };
  }

  /** Returns undefined if the session is over, or if the value is not ours. */
  open(value: string): Session | undefined {
    const found = this.#sealer.open(value);
    if (found === undefined || !(found.untilMs > this.#nowMs())) return undefined;
    return { ...found, id: found.id ?? sessionId(value) };
  }
}

const idBytes = 16;

/** The page remembers which session it has started. Older ones have no id of their own. */
function sessionId(value: string): string {
  return hash("sha256", value, "base64url").slice(0, 22);
}
