import type { WaitingRequest } from "../../api/schemas.ts";
import { roughDuration } from "../../core/model/duration.ts";
import { plain } from "../terminal/text.ts";

/** What is told of a wait, for a lease of the server or for a slot. */
export interface Waiting extends Pick<WaitingRequest, "waitedSeconds" | "position" | "etaSeconds"> {
  readonly reason: Pick<WaitingRequest["reason"], "message">;
}

/** Shows how the wait goes, for as long as it goes. */
export interface WaitingDisplay {
  show(request: Waiting): void;
  trouble(error: Error): void;
  end(): void;
}

/** What was last heard, and when, so that the times in it go on between two looks. */
export interface Sight {
  readonly request: Waiting;
  readonly seenAtMs: number;
}

/** `waiting 2m10s · position 3 · about 7m · All 2 of aws-account are held; 2 ahead of you` */
export function waitingText({ request, seenAtMs }: Sight, nowMs: number): string {
  const sinceMs = nowMs - seenAtMs;
  const { waitedSeconds, position, etaSeconds, reason } = request;
  const parts = [
    `waiting ${roughDuration(waitedSeconds * 1_000 + sinceMs)}`,
    `position ${position}`,
    ...(etaSeconds === null ? [] : [etaText(etaSeconds * 1_000 - sinceMs)]),
    plain(reason.message),
  ];
  return parts.join(" · ");
}

/** An estimate that has run out says so instead of counting below zero. */
function etaText(leftMs: number): string {
  return leftMs < 1_000 ? "any moment" : `about ${roughDuration(leftMs)}`;
}
