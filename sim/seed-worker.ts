/** Simulates the seeds that the parent process sends, one after the other. */
import { simulate } from "./simulation.ts";

/** The result of one seed. */
export type SeedReport =
  | {
      readonly seed: number;
      readonly ok: true;
      readonly grants: number;
      readonly events: number;
      readonly virtualMs: number;
    }
  | { readonly seed: number; readonly ok: false; readonly why: string };

/** Contains the stack of the first error, if it is known: it leads to the check that failed. */
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
    // It never rejects: a failed seed is a report, too.
    void report(Number(seed), bugs).then((found) => process.send?.(found));
  });
  // The parent process handles Ctrl-C and stops this process.
  process.on("SIGINT", () => {});
  process.on("disconnect", () => process.exit());
}
