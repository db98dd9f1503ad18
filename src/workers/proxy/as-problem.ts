import { notGrantedCode } from "../../api/lease-proxy.ts";
import { Problem } from "../../api/problem.ts";
import { BerthUnreachable, NotGranted } from "../../client/errors.ts";

/** Converts the client errors of an acquire or a release to a Problem, which has an HTTP status. */
export function asProblem(error: unknown): unknown {
  const no = (code: string, status: number, { message, hint }: BerthUnreachable | NotGranted) =>
    new Problem({ code, status, message, hint }, error);
  if (error instanceof NotGranted) return no(notGrantedCode, 500, error);
  if (error instanceof BerthUnreachable) return no("unreachable", 503, error);
  return error;
}
