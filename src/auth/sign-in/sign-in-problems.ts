import { Problem } from "../../api/problem.ts";
import { roughDuration } from "../../core/model/time.ts";
import { issuerLimits } from "../issuers/limits.ts";

const again = "Sign in again";

/** The page does not have what it got when the sign-in began. */
export function signInLost(state: string): Problem {
  return new Problem({
    code: "sign_in_expired",
    status: 400,
    message: `Cannot finish the sign-in: ${state}`,
    hint: `${again}, in the same tab and within ten minutes`,
  });
}

/** The issuer has sent the user back without a code. */
export function signInDenied(title: string, reason: string): Problem {
  const isDenied = reason === "access_denied";
  return new Problem({
    code: "sign_in_denied",
    status: 403,
    message: `Cannot sign in: ${title} ${isDenied ? "says that it was cancelled or denied" : `answered with the error ${reason}`}`,
    hint: isDenied
      ? `${again}, and allow it; if ${title} refuses you, ask its administrator`
      : `${again}; if it fails again, ask an operator of this server`,
    facts: { reason },
  });
}

/** The issuer does not answer as it should: the client is registered in another way than here. */
export function signInFailed(title: string, state: string, cause?: unknown): Problem {
  return new Problem(
    {
      code: "sign_in_failed",
      status: 502,
      message: `Cannot sign in: ${title} ${state}`,
      hint: "Ask an operator of this server; its log has the cause",
    },
    cause instanceof Error ? cause : undefined,
  );
}

/**
 * The token that the issuer has just signed is not valid now. `issuedMs`: when it was signed, by the
 * clock of the issuer.
 */
export function clocksDiffer(title: string, issuedMs: number | undefined, nowMs: number): Problem {
  const offMs = nowMs - (issuedMs ?? nowMs);
  const by = offMs === 0 ? "" : ` by ${roughDuration(Math.abs(offMs))}`;
  const which = offMs === 0 ? "differs from" : offMs > 0 ? "is behind" : "is ahead of";
  return new Problem({
    code: "sign_in_failed",
    status: 502,
    message: `Cannot sign in: the clock of ${title} ${which} the clock of this server${by}`,
    hint: `Ask an operator of this server to check its clock; ${issuerLimits.clockToleranceSeconds} s are tolerated`,
  });
}

export function notForPeople(issuer: string): Problem {
  return new Problem({
    code: "sign_in_unknown",
    status: 404,
    message: `Cannot sign in through ${issuer}: the server has no such sign-in`,
    hint: "GET /v1/sign-in lists those that it has; reload the page",
  });
}
