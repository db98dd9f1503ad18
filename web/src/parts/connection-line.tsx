import { roughDuration } from "../../../src/core/model/time.ts";
import { useOwnNowMs } from "../data/clock.ts";
import type { Connection } from "../data/live.ts";
import { momentText } from "./clock-time.ts";

/** Browsers say no more than that a call failed, each in its own words. */
const browserWords = /failed to fetch|networkerror|load failed|network error/i;

function isPlain(cause = ""): boolean {
  return cause !== "" && !browserWords.test(cause);
}

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
            {roughDuration(Math.max(0, now - connection.sinceMs))} ago.
            <span className="as-of"> The data below is from {momentText(connection.sinceMs)}.</span>{" "}
            The page tries again every few seconds.
          </span>
          {isPlain(connection.cause) ? <small>{connection.cause}</small> : null}
          <button type="button" onClick={onRetry}>
            Try now
          </button>
        </div>
      ) : null}
    </div>
  );
}
