/**
 * Callers of the last minutes, by the header that proved who they are. A client sends the same header
 * with every call, and comparing it costs less than hashing its token.
 *
 * The time of an answer must reveal nothing about the headers that are known here. So whole headers are
 * only compared in constant time, and found by a number that nobody outside can compute.
 */
import { randomInt, timingSafeEqual } from "node:crypto";
import type { Principal } from "./principal.ts";

/** A caller who has proved who it is. */
export interface Proven {
  readonly principal: Principal;
  readonly untilMs: number;
  /** False: the proof must be checked again, for example because the issuer has withdrawn its key. */
  readonly isCurrent: () => boolean;
}

interface RecentCaller {
  readonly header: Buffer;
  readonly proven: Proven;
}

type Generation = Map<number, RecentCaller>;

const generationMs = 60_000;
const generationMax = 2_048;
/** Longer headers are proved anew with every call: they would use up the memory. */
const headerLengthMax = 4_096;
/** The end of a token is random: it has the signature, or is random as a whole. */
const keyedLength = 24;
/** Maps find small integers faster than other numbers. */
const smallIntegerMax = 0x3fff_ffff;

export class RecentCallers {
  /** The first has those of the last minute; one that is not used in the next minute is forgotten. */
  #young: Generation = new Map();
  #old: Generation = new Map();
  #startedMs = 0;
  readonly #seed = randomInt(2 ** 32);

  forgetAll(): void {
    this.#young = new Map();
    this.#old = new Map();
  }

  recall(header: string, nowMs: number): Principal | undefined {
    this.#forgetOld(nowMs);
    const key = this.#keyOf(header);
    let recent = this.#young.get(key);
    if (recent === undefined) {
      recent = this.#old.get(key);
      if (recent !== undefined) this.#young.set(key, recent);
    }
    if (recent === undefined) return undefined;
    const bytes = bytesOf(header);
    if (bytes.length !== recent.header.length || !timingSafeEqual(bytes, recent.header)) {
      return undefined;
    }
    const { principal, untilMs, isCurrent } = recent.proven;
    return nowMs < untilMs && isCurrent() ? principal : undefined;
  }

  /** Two headers with one key take turns, which is rare and only costs time. */
  remember(header: string, proven: Proven, nowMs: number): void {
    if (header.length > headerLengthMax) return;
    this.#forgetOld(nowMs);
    if (this.#young.size >= generationMax) this.#startGeneration(nowMs);
    this.#young.set(this.#keyOf(header), { header: bytesOf(header), proven });
  }

  /** A clock that jumped back forgets too early rather than never. */
  #forgetOld(nowMs: number): void {
    const ageMs = nowMs - this.#startedMs;
    if (ageMs < generationMs && ageMs >= 0) return;
    if (ageMs >= 2 * generationMs) this.#young.clear();
    this.#startGeneration(nowMs);
  }

  #startGeneration(nowMs: number): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#startedMs = nowMs;
  }

  #keyOf(header: string): number {
    let key = this.#seed ^ header.length;
    for (let at = Math.max(0, header.length - keyedLength); at < header.length; at++) {
      key = Math.imul(key ^ header.charCodeAt(at), 0x0100_0193);
      key ^= key >>> 15;
    }
    return key & smallIntegerMax;
  }
}

/** In UTF-8, as tokens are hashed. The comparison takes its time for every byte, so fewer are better. */
function bytesOf(header: string): Buffer {
  return Buffer.from(header, "utf8");
}
