/** The messages of refusals that come from the policy of a space. */
import { Problem } from "../api/problem.ts";
import type { Refusal } from "../core/model/outcome.ts";

type SpaceRefusal = Extract<
  Refusal,
  {
    code:
      | "space_unknown"
      | "pool_not_allowed"
      | "quota_too_small"
      | "too_many_waiting"
      | "too_many_priorities";
  }
>;

export function spaceProblem(refusal: SpaceRefusal): Problem {
  const { code, space } = refusal;
  switch (code) {
    case "space_unknown":
      return new Problem({
        code,
        status: 403,
        message: `Cannot lend to the space "${space}": the configuration does not have it`,
        hint: "Ask an admin of the server to add it to spaces, or to write spaceDefaults",
        facts: { space },
      });
    case "pool_not_allowed":
      return new Problem({
        code,
        status: 403,
        message: `Cannot lend ${refusal.pool} to the space "${space}": its pools do not include it`,
        hint: "Use another pool, or ask the operators of the server to add it to pools of the space",
        facts: { space, pool: refusal.pool },
      });
    case "quota_too_small": {
      const { pool, dimension, asked, max } = refusal;
      const unit = dimension === "cost" ? "of cost" : `${dimension ?? "claims"} of ${pool}`;
      return new Problem({
        code,
        status: 422,
        message: `Cannot ever grant ${asked} ${unit}: the quota of the space "${space}" is ${max}`,
        hint: `Ask for at most ${max}, or ask the operators of the server for a larger quota`,
        facts: {
          space,
          pool,
          asked,
          max,
          ...(dimension === undefined ? undefined : { dimension }),
        },
      });
    }
    case "too_many_waiting":
      return new Problem({
        code,
        status: 429,
        message: `Cannot queue the request: ${refusal.max} requests of the space "${space}" wait`,
        hint: "Try again when some of them have been granted or cancelled",
        facts: { space, max: refusal.max },
      });
    case "too_many_priorities": {
      const { pool, max } = refusal;
      return new Problem({
        code,
        status: 429,
        message: `Cannot queue the request: those of the space "${space}" for ${pool} have ${max} priorities`,
        hint: "Use a priority that one of them has",
        facts: { space, pool, max },
      });
    }
  }
}
