import type { Context } from "../cli-command.ts";
import type { ListFlags } from "./listing.ts";

/** The last half hour of every pool, for those who look at it on a terminal; into a pipe it is not read. */
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

  /** No more often than there are new samples. */
  async refresh(): Promise<void> {
    const { screen, client, flags } = this.#context;
    const { output } = flags<ListFlags>();
    const shown = screen.width() !== undefined && (output === "table" || output === "wide");
    if (!shown || performance.now() < this.#nextAtMs) return;
    const found = await client.trends().catch(() => undefined);
    if (found === undefined) return; // The pools tell what is wrong; they are worth more than this.
    this.#nextAtMs = performance.now() + found.stepSeconds * 1_000;
    this.#held.clear();
    for (const { pool, held } of found.pools) this.#held.set(pool, held);
  }
}
