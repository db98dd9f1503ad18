import { useEffect, useState, useSyncExternalStore } from "react";
import { serverNowMs } from "./berth.ts";
import { connection } from "./live.ts";
import { Store, useStore } from "./store.ts";

const tickMs = 1_000;

/**
 * The server's time, told once a second to all who show an age: one timer, however many they are. It
 * stands still while the connection is lost: nobody knows then who still holds or waits.
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

/** What the time makes of it; whoever shows it is drawn again only when that is another word. */
export function useInTime<T extends string | number>(of: (nowMs: number) => T): T {
  return useSyncExternalStore(clock.subscribe, () => of(clock.get()));
}

/** This machine's time, once a second, whatever the server does. */
export function useOwnNowMs(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The value as it was when it last stood still for so long. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
