import type { Context } from "../cli-command.ts";
import type { ListFlags } from "./listing.ts";

/** The last half hour of every pool. Read only if the output is a table on a terminal. */
export class Trends {
  readonly #context: Context;
  readonly #held = new Map<string, readonly number[]>();
  #nextAtMs = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  get known(): boolean {
    return this.#held.size > 0;
  }

  heldIn(pool: string): readonly number[] {
    return this.#held.get(pool) ?? [];
  }

  /** Reads the trends at most once per sample interval. */
  async refresh(): Promise<void> {
    const { screen, client, flags } = this.#context;
    const { output } = flags<ListFlags>();
    const shown = screen.width() !== undefined && (output === "table" || output === "wide");
    if (!shown || performance.now() < this.#nextAtMs) return;
    const found = await client.trends().catch(() => undefined);
    if (found === undefined) return; // The read of the pools reports the error.
    this.#nextAtMs = performance.now() + found.stepSeconds * 1_000;
    this.#held.clear();
    for (const { pool, held } of found.pools) this.#held.set(pool, held);
  }
}
