/**
 * The keys of one issuer. They are fetched in the background before they get old. If the issuer does
 * not answer, the known keys stay in use, so that its tokens work while it is down.
 */
import type { createLocalJWKSet } from "jose";
import type { IssuerSpec } from "../issuer-spec.ts";
import { readKeys } from "./key-source.ts";
import { issuerLimits } from "./limits.ts";

/** What the server logs about issuers. */
export interface IssuerReports {
  /** The issuer answers, for the first time or again. */
  readonly up?: (issuer: string) => void;
  readonly down?: (issuer: string, why: unknown) => void;
}

/** One state of the keys. Another object means that a key was added or removed. */
export interface KeySet {
  readonly text: string;
  readonly find: ReturnType<typeof createLocalJWKSet>;
}

export class IssuerKeys {
  readonly #spec: IssuerSpec;
  readonly #nowMs: () => number;
  readonly #reports: IssuerReports;
  #set: KeySet | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #isUp: boolean | undefined;

  constructor(spec: IssuerSpec, nowMs: () => number, reports: IssuerReports) {
    this.#spec = spec;
    this.#nowMs = nowMs;
    this.#reports = reports;
  }

  /** The known keys, without waiting; undefined if `load` must read them first. */
  get current(): KeySet | undefined {
    // The clock may have been set back: then nobody knows how old they are.
    const sinceMs = this.#nowMs() - this.#readAtMs;
    const ageMs = sinceMs < 0 ? Number.POSITIVE_INFINITY : sinceMs;
    if (ageMs <= issuerLimits.refreshMs) return this.#set;
    // No call has used these keys for a long time. The issuer may have withdrawn one of them.
    if (ageMs > issuerLimits.staleMs && this.#isUp) return undefined;
    void this.refresh();
    return this.#set;
  }

  /** The keys; the last known ones if the issuer does not answer; undefined if none are known. */
  async load(): Promise<KeySet | undefined> {
    if (this.current === undefined) await this.refresh();
    return this.#set;
  }

  /** False if the last attempt to read the keys has failed. */
  get isUp(): boolean {
    return this.#isUp ?? false;
  }

  /** Reads the keys again, but at most once per cool-down. Never throws. */
  async refresh(): Promise<void> {
    if (this.#reading === undefined) {
      // The clock may have been set back.
      const sinceMs = Math.abs(this.#nowMs() - this.#triedAtMs);
      if (sinceMs < issuerLimits.coolDownMs) return;
      this.#triedAtMs = this.#nowMs();
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
      });
    }
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { issuer } = this.#spec;
    try {
      const keys = [...(await readKeys(this.#spec))];
      const text = JSON.stringify(keys);
      if (text !== this.#set?.text) {
        const { createLocalJWKSet } = await import("jose");
        this.#set = { text, find: createLocalJWKSet({ keys }) };
      }
      this.#readAtMs = this.#nowMs();
      if (this.#isUp !== true) this.#reports.up?.(issuer);
      this.#isUp = true;
    } catch (error) {
      if (this.#isUp !== false) this.#reports.down?.(issuer, error);
      this.#isUp = false;
    }
  }
}
