/** What a dialog says instead of its question once there is nothing left to do. */
import { Problem } from "../../../src/api/problem.ts";
import { roughDuration } from "../../../src/core/model/time.ts";

const hows: Readonly<Record<string, string>> = {
  released: "its holder released it",
  expired: "it sent no heartbeat in time",
  lifetime: "it reached its max lifetime",
  revoked: "an operator ended it",
  cancelled: "it left the queue",
  removed: "an operator removed it",
  disconnected: "its connection closed",
  abandoned: "nobody asked for it any more",
};

/** Undefined: the problem is another one, and a second try may succeed. */
export function overWords(problem: unknown, nowMs: number): string | undefined {
  if (!(problem instanceof Problem)) return undefined;
  if (problem.code === "request_granted")
    return "It has been granted. To take its resources back, end the lease.";
  const isLease = problem.code === "lease_ended";
  if (!isLease && problem.code !== "request_ended") return undefined;
  const { endedAt, how } = problem.facts;
  const agoMs = nowMs - Date.parse(String(endedAt));
  const ago = Number.isNaN(agoMs) ? "" : ` ${roughDuration(Math.max(0, agoMs))} ago`;
  const why = hows[String(how)];
  const what = isLease ? "The lease ended" : "The request ended";
  return `${what}${ago}${why === undefined ? "" : `: ${why}`}.`;
}
