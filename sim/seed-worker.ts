/** Simulates the seeds that it is sent, one after the other, in a process of its own. */
import { simulate } from "./simulation.ts";

/** What became of one seed. */
export type SeedReport =
  | {
      readonly seed: number;
      readonly ok: true;
      readonly grants: number;
      readonly events: number;
      readonly virtualMs: number;
    }
  | { readonly seed: number; readonly ok: false; readonly why: string };

/** The stack of what went wrong first, where that is known: it leads to the check that failed. */
export async function report(seed: number, bugs: object = {}): Promise<SeedReport> {
  try {
    const { grants, events, virtualMs } = await simulate(seed, bugs);
    return { seed, ok: true, grants, events, virtualMs };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    return { seed, ok: false, why };
  }
}

if (process.send !== undefined && import.meta.main) {
  const bugs = JSON.parse(process.argv[2] ?? "{}");
  process.on("message", (seed) => {
    // It never rejects: a seed that fails is a report, too.
    void report(Number(seed), bugs).then((found) => process.send?.(found));
  });
  // Whoever sends the seeds decides what Ctrl-C means, and ends us with itself.
  process.on("SIGINT", () => {});
  process.on("disconnect", () => process.exit());
}
