/** Questions about the past. One thread answers them, one after the other. */
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { CallerShares } from "./caller-shares.ts";
import type { Context } from "./context.ts";

/** The thread has the bound of all callers together (`stats-worker.ts`). */
export function questionShares({ auth }: Pick<Context, "auth">): CallerShares {
  return new CallerShares(auth, {
    perCaller: limits.questionsPerCallerMax,
    refusal: (count) =>
      new Problem({
        code: "history_busy",
        status: 503,
        message: `Cannot look into the past: ${count} questions of yours are not answered yet`,
        hint: "Wait for their answers, or close their connections",
      }),
  });
}
