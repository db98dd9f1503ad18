/** Keeps the end of an output, whatever its length. */
export class OutputEnd {
  readonly #bytesMax: number;
  #chunks: Buffer[] = [];
  #kept = 0;
  total = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(bytes: Buffer): void {
    this.total += bytes.length;
    this.#chunks.push(bytes);
    this.#kept += bytes.length;
    // Joined rarely: once per chunk took half a minute for 100 MB.
    if (this.#kept > 2 * this.#bytesMax + 65_536) this.#join();
  }

  /** How many bytes are in memory now. */
  get kept(): number {
    return this.#kept;
  }

  text(): string {
    this.#join();
    return this.#chunks[0]?.toString("utf8") ?? "";
  }

  #join(): void {
    const joined = Buffer.concat(this.#chunks);
    const end = joined.subarray(Math.max(0, joined.length - this.#bytesMax));
    this.#chunks = [Buffer.from(end)]; // A copy, so that the rest is freed.
    this.#kept = end.length;
  }
}
