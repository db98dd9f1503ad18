/** Times as people read them: how long ago, how much is left; the exact moment on hover. */
import { roughDuration } from "../../../src/core/duration.ts";
import { useNowMs } from "../data/clock.ts";

export function Age({ since }: { since: string }) {
  const now = useNowMs();
  return (
    <time dateTime={since} title={exact(since)}>
      {roughDuration(Math.max(0, now - Date.parse(since)))}
    </time>
  );
}

export function Left({ until }: { until: string | null }) {
  const now = useNowMs();
  if (until === null) return <span className="faint">–</span>;
  const leftMs = Date.parse(until) - now;
  return (
    <time dateTime={until} title={exact(until)}>
      {leftMs <= 0 ? "now" : roughDuration(leftMs)}
    </time>
  );
}

/** `14:03:07` today, with the date before on any other day. */
export function Moment({ at }: { at: string }) {
  const date = new Date(at);
  const today = date.toDateString() === new Date().toDateString();
  const time = date.toLocaleTimeString("en-GB");
  return (
    <time dateTime={at} title={exact(at)}>
      {today ? time : `${date.toLocaleDateString([], { month: "short", day: "numeric" })} ${time}`}
    </time>
  );
}

export function exact(at: string): string {
  return new Date(at).toISOString().replace("T", " ");
}

/** `-` for what is not known. */
export function inWords(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? "–" : roughDuration(seconds * 1_000);
}
