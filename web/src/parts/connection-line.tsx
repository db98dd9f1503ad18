import { roughDuration } from "../../../src/core/model/time.ts";
import { useOwnNowMs } from "../data/clock.ts";
import type { Connection } from "../data/live.ts";

/** A lost connection is shown, with since when: what stands below it is what was last known. */
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
        <div className="lost">
          <strong>Connection lost</strong>
          <span aria-hidden="true">
            {roughDuration(Math.max(0, now - connection.sinceMs))} ago. What you see is from then;
            it is tried again by itself.
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
