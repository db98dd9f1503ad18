/** Which time the charts show: what fits the data, a chosen window, or what somebody has zoomed to. */
import { useCallback, useMemo } from "react";
import { serverNowMs } from "../data/berth.ts";
import { go, usePlace } from "../router.ts";
import { type ChartRange, rangeOf, windowNames, zoomedRange, zoomTimes } from "./chart-fit.ts";

export interface Zoom {
  /** What the address says; null: nothing, so the window that fits. */
  readonly chosen: ChartRange | null;
  readonly isZoomed: boolean;
  readonly zoom: (from: number, to: number) => void;
  readonly reset: () => void;
  /** Shows a period up to now instead; empty: all of the time. */
  readonly choose: (window: string) => void;
}

export function useChartRange(): Zoom {
  const { query } = usePlace();
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const window = query.get("window") ?? "";
  const isZoomed = to > from && from > 0;
  const chosen = useMemo(() => {
    if (isZoomed) return zoomedRange({ from, to });
    return windowNames.includes(window) ? rangeOf(window) : null;
  }, [isZoomed, from, to, window]);
  const zoom = useCallback((start: number, end: number) => {
    const { from, to } = zoomTimes({ from: start, to: end }, serverNowMs() / 1_000);
    replaceQuery({ from: String(from), to: String(to) });
  }, []);
  const reset = useCallback(() => replaceQuery({ from: "", to: "" }), []);
  const choose = useCallback((name: string) => {
    replaceQuery({ window: name, from: "", to: "" });
  }, []);
  return { chosen, isZoomed, zoom, reset, choose };
}

/** A zoom is a step that the Back button undoes. */
function replaceQuery(values: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(values)) {
    if (value === "") next.delete(key);
    else next.set(key, value);
  }
  const text = next.toString();
  go(location.pathname + (text === "" ? "" : `?${text}`), { keepScroll: true });
}
