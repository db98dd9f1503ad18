/** What Boskos says, word for word: clients look for these texts. */
import type { Refusal } from "../../core/model/refusal.ts";
import { timestamp } from "../timestamp.ts";
import { goQuote } from "./go-quote.ts";

export interface Failure {
  readonly status: number;
  readonly text: string;
}

/** The reason for a refusal, without the prefix that each call puts before it. */
export function failureOf(refusal: Refusal): Failure {
  switch (refusal.code) {
    case "pool_not_found":
      return { status: 404, text: `resource type ${goQuote(refusal.pool)} does not exist` };
    case "none_free":
      return noneAvailable(refusal.pool);
    case "never_fits":
      return noneAvailable(refusal.pool);
    case "not_all_free":
      return noneAvailable(refusal.state);
    case "resource_not_found":
      return noneAvailable(refusal.resource);
    case "not_its_holder":
      return { status: 401, text: `${currentOwner(refusal)}${reasonLost(refusal)}` };
    case "state_differs":
      // The words are the wrong way round, and clients have them so.
      return {
        status: 409,
        text: `state mismatch - expected ${refusal.state}, current ${refusal.claimed}`,
      };
    case "too_many_entries":
      return { status: 400, text: `it would have more than ${refusal.max} keys of user data` };
    default:
      return { status: 500, text: refusal.code };
  }
}

export function noneAvailable(what: string): Failure {
  return { status: 404, text: `no available resource ${what}, try again later.` };
}

type NotItsHolder = Extract<Refusal, { code: "not_its_holder" }>;

function currentOwner({ by, holder }: NotItsHolder): string {
  return `owner mismatch request by ${by}, currently owned by ${holder}`;
}

/** Beyond Boskos's own text: how the lease was lost, so that nobody has to guess. */
function reasonLost({ lost, needsToken }: NotItsHolder): string {
  if (needsToken) return " (a lease with a token; it is given back under /v1/leases)";
  if (lost === undefined) return "";
  const how = lost.how === "released" ? `released as ${lost.state}` : lost.how;
  return ` (your lease was ${how} at ${timestamp(lost.at)})`;
}
