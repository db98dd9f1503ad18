import type { WaitingRequest } from "../../api/schemas.ts";
import { roughDuration } from "../../core/model/time.ts";
import { plain } from "../terminal/text.ts";

/** The state of a wait, for a lease of the server or for a slot. */
export interface Waiting extends Pick<WaitingRequest, "waitedSeconds" | "position" | "etaSeconds"> {
  readonly reason: Pick<WaitingRequest["reason"], "message">;
}

/** Shows the state of a wait until `end`. */
export interface WaitingDisplay {
  show(request: Waiting): void;
  retrying(error: Error): void;
  end(): void;
}

/** The last state and when it was read, so that the shown times advance between two polls. */
export interface WaitSnapshot {
  readonly request: Waiting;
  readonly readAtMs: number;
}

/** `waiting 2m10s · position 3 · about 7m · All 2 of aws-account are held; 2 ahead` */
export function waitingText({ request, readAtMs }: WaitSnapshot, nowMs: number): string {
  const sinceMs = nowMs - readAtMs;
  const { waitedSeconds, position, etaSeconds, reason } = request;
  const parts = [
    `waiting ${roughDuration(waitedSeconds * 1_000 + sinceMs)}`,
    `position ${position}`,
    ...(etaSeconds === null ? [] : [etaText(etaSeconds * 1_000 - sinceMs)]),
    plain(reason.message),
  ];
  return parts.join(" · ");
}

/** Shows an estimate in the past as "any moment" instead of a negative time. */
function etaText(leftMs: number): string {
  return leftMs < 1_000 ? "any moment" : `about ${roughDuration(leftMs)}`;
}
