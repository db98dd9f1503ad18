/**
 * What one replica tells another about a call that it passes on: who has sent it, from where. All
 * replicas know the secret of the journal, and nobody else does, so a signature with a key made from it
 * proves that the words are those of a replica.
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ShownCertificate } from "../../auth/certificates.ts";
import type { DeliveryWord } from "./relayed-deliveries.ts";

export const relayHeader = "berth-relay";

/** A signature is accepted for this long, by the clock of the database, which all replicas share. */
const validForMs = 30_000;

/** The caller as the first replica has seen it. */
export interface RelayedCaller {
  readonly address: string;
  readonly host?: string | undefined;
  readonly protocol?: string | undefined;
  readonly certificate?: ShownCertificate | undefined;
  /** The name of the answer, for the word that follows. */
  readonly deliveryId?: string;
  /** Not of a caller but of the other server itself: whether an answer has arrived. */
  readonly delivery?: DeliveryWord;
}

/** The parts of the call that the signature is for, so that it fits no other call. */
export interface SignedCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<IncomingHttpHeaders, "authorization" | "cookie" | "origin">;
}

interface Statement {
  readonly atMs: number;
  readonly call: string;
  readonly caller: RelayedCaller;
}

export class RelaySignature {
  readonly #key: Buffer;
  readonly #nowMs: () => number;

  constructor(secret: string, nowMs: () => number) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "calls between replicas", 32));
    this.#nowMs = nowMs;
  }

  sign(call: SignedCall, caller: RelayedCaller): string {
    const statement: Statement = { atMs: this.#nowMs(), call: digestOf(call), caller };
    const text = Buffer.from(JSON.stringify(statement)).toString("base64url");
    return `${text}.${this.#mac(text)}`;
  }

  /** Undefined if no replica has signed this call, or not now. */
  verify(call: SignedCall, header: string): RelayedCaller | undefined {
    const [text = "", mac = ""] = header.split(".");
    const [given, own] = [Buffer.from(mac), Buffer.from(this.#mac(text))];
    if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
    const {
      atMs,
      call: signed,
      caller,
    } = JSON.parse(Buffer.from(text, "base64url").toString()) as Statement;
    if (Math.abs(this.#nowMs() - atMs) > validForMs || signed !== digestOf(call)) return undefined;
    return caller;
  }

  #mac(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}

function digestOf({ method, url, headers }: SignedCall): string {
  const { authorization, cookie, origin } = headers;
  const parts = [method, url, authorization ?? null, cookie ?? null, origin ?? null];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
