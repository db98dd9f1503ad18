/** What the cleaning of a pool's used resources comes to. */
import type { Pool } from "../../../src/api/schemas.ts";
import { briefDuration } from "../../../src/core/model/time.ts";
import type { Upkeep } from "../data/questions.ts";
import { grouped } from "../parts/numbers.ts";
import type { GateStatus } from "./gate-card.tsx";

type Cleaned = Pick<Pool, "policy" | "states" | "template">;

/** A used cluster is destroyed, so that its pool has nothing to clean. */
export function hasCleaning({ policy, states, template }: Cleaned): boolean {
  if (template !== undefined) return false;
  const { dirty = 0, cleaning = 0 } = states;
  return policy.onRelease === "dirty" || policy.onExpire === "dirty" || dirty + cleaning > 0;
}

export function cleaningStatus({ states }: Pick<Pool, "states">): GateStatus {
  const { dirty = 0, cleaning = 0, quarantined = 0 } = states;
  if (quarantined > 0) {
    return { open: false, bad: true, words: `${grouped(quarantined)} quarantined` };
  }
  if (dirty + cleaning === 0) return { open: true, words: "nothing to clean" };
  return { open: true, words: `${grouped(cleaning)} being cleaned, ${grouped(dirty)} to clean` };
}

/** `102 cleaned, 1 failed`. */
export function cleanedWords({ cleaned, failed }: Upkeep): string {
  if (cleaned + failed === 0) return "none";
  return `${grouped(cleaned)} cleaned, ${grouped(failed)} failed`;
}

/** Of those that did not fail; undefined: none ended. */
export function cleaningTimeWords({ cleaningSeconds: times }: Upkeep): string | undefined {
  if (times === null) return undefined;
  return `half within ${briefDuration(times.p50 * 1_000)}, 9 in 10 within ${briefDuration(times.p90 * 1_000)}`;
}
