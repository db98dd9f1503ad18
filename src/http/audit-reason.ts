/** Who acts on behalf of others, and why: it goes into the event, for those who wonder afterwards. */
import Type from "typebox";
import { limits } from "../api/limits.ts";
import type { Reason } from "../core/model/command.ts";

export const becauseFields = {
  by: Type.Optional(
    Type.String({
      maxLength: limits.holderLengthMax,
      description: "Who does it, if not the holder",
    }),
  ),
  reason: Type.Optional(Type.String({ maxLength: 1_024, description: "Why, for people to read" })),
};

export function becauseOf(given: {
  readonly by: string | undefined;
  readonly reason: string | undefined;
}): Reason {
  return { by: given.by ?? "operator", why: given.reason ?? "" };
}
