import { useEffect, useState, useSyncExternalStore } from "react";
import { serverNowMs } from "./berth.ts";
import { connection } from "./live.ts";
import { Store, useStore } from "./store.ts";

const tickMs = 1_000;

/**
 * The server's time, updated once a second by one timer for all components that show an age. It
 * stops while the connection is lost, because the state of the leases is then unknown.
 */
const clock = new Store(serverNowMs());
const tick = () => {
  if (!document.hidden && connection.get().state !== "lost") clock.set(serverNowMs());
};
setInterval(tick, tickMs);
document.addEventListener("visibilitychange", tick);

export function useNowMs(): number {
  return useStore(clock);
}

/** A value computed from the time. The component is drawn again only when the value changes. */
export function useInTime<T extends string | number>(of: (nowMs: number) => T): T {
  return useSyncExternalStore(clock.subscribe, () => of(clock.get()));
}

/** This machine's time, updated once a second, also without a connection. */
export function useOwnNowMs(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The last value that did not change for `ms` (a debounce). */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
