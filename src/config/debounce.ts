/**
 * Tells a file that has changed from one that is only being touched or is still being written:
 * new content counts once it has been seen twice in a row.
 */
export class Settle {
  #settled: string;
  #seen: string | undefined;

  constructor(fingerprint: string) {
    this.#settled = fingerprint;
  }

  /** `look-again` soon: what was read may be half of what is being written. */
  look(fingerprint: string): "unchanged" | "look-again" | "changed" {
    const before = this.#seen;
    this.#seen = fingerprint;
    if (fingerprint === this.#settled) return "unchanged";
    if (fingerprint !== before) return "look-again";
    this.#settled = fingerprint;
    return "changed";
  }
}
