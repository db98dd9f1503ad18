/** Times as people read them: how long ago, how much is left; the exact moment on hover. */
import { briefDuration, roughDuration } from "../../../src/core/model/time.ts";
import { useInTime } from "../data/clock.ts";
import { clockTime, dayOf, momentText, zoneText } from "./clock-time.ts";
import { leftText } from "./time-words.ts";

export function Age({ since }: { since: string }) {
  const age = useAge(since);
  return (
    <time dateTime={since} title={exact(since)}>
      {age}
    </time>
  );
}

export function Left({ until }: { until: string | null }) {
  const left = useLeft(until);
  if (until === null) return <span className="faint">–</span>;
  return (
    <time dateTime={until} title={exact(until)}>
      {left}
    </time>
  );
}

/** How long ago, in words. */
export function useAge(since: string): string {
  return useInTime((nowMs) => roughDuration(Math.max(0, nowMs - Date.parse(since))));
}

/** How much time is left, in words; empty if it never ends. */
export function useLeft(until: string | null): string {
  return useInTime((nowMs) => {
    if (until === null) return "";
    return leftText(Date.parse(until) - nowMs);
  });
}

/** `14:03:07` today, with the date on any other day. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exact(at)}>
      {momentText(at)}
    </time>
  );
}

/** `Mon 16 Nov 14:03:07 (Europe/Berlin, GMT+1)`. */
export function exact(at: string): string {
  return `${dayOf(at)} ${clockTime(at)} (${zoneText()})`;
}

/** A time that was measured or configured; `-` if it is not known. */
export function inWords(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? "–" : briefDuration(seconds * 1_000);
}

/** The same for a time that still runs: it changes while people read it, so in whole seconds. */
export function inWholeSeconds(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined ? "–" : roughDuration(seconds * 1_000);
}
