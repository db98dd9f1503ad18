import { roughDuration } from "../../../src/core/model/time.ts";
import { useOwnNowMs } from "../data/clock.ts";
import type { Connection } from "../data/live.ts";
import { momentText } from "./clock-time.ts";

/** Shows that the connection is lost, and since when. The view below has the last known state. */
export function ConnectionLine({
  connection,
  onRetry,
}: {
  connection: Connection;
  onRetry: () => void;
}) {
  const now = useOwnNowMs();
  return (
    <div role="status" aria-live="polite" aria-atomic="false">
      {connection.state === "lost" ? (
        <div className="lost-line">
          <strong>Connection lost</strong>
          <span aria-hidden="true">
            {roughDuration(Math.max(0, now - connection.sinceMs))} ago. The data below is from{" "}
            {momentText(connection.sinceMs)}. The page tries again every few seconds.
          </span>
          <small>{connection.cause}</small>
          <button type="button" onClick={onRetry}>
            Try now
          </button>
        </div>
      ) : null}
    </div>
  );
}
