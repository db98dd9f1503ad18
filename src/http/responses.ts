import Type from "typebox";
import { ProblemDocument } from "../api/schemas.ts";

type ProblemStatus =
  | 400
  | 401
  | 403
  | 404
  | 409
  | 410
  | 413
  | 414
  | 415
  | 421
  | 422
  | 429
  | 431
  | 502
  | 503;

/** Documents the problems that a route answers with. */
export function problems(...statuses: ProblemStatus[]): Record<ProblemStatus, object> {
  const content = { "application/problem+json": { schema: ProblemDocument } };
  const document = { description: "A problem document (RFC 9457)", content };
  return Object.fromEntries(statuses.map((status) => [status, document])) as Record<
    ProblemStatus,
    object
  >;
}

/** Sent without a payload: even a null would be serialised, only to be thrown away again. */
export const NoContent = Type.Unsafe<undefined>({ type: "null", description: "Done" });
