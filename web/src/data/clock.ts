import { useEffect, useState, useSyncExternalStore } from "react";
import { serverNowMs } from "./berth.ts";
import { Store, useStore } from "./store.ts";

const tickMs = 1_000;

/** The server's time, told once a second to all who show an age: one timer, however many they are. */
const clock = new Store(serverNowMs());
setInterval(() => {
  if (!document.hidden) clock.set(serverNowMs());
}, tickMs);
document.addEventListener("visibilitychange", () => clock.set(serverNowMs()));

export function useNowMs(): number {
  return useStore(clock);
}

/** What the time makes of it; whoever shows it is drawn again only when that is another word. */
export function useInTime<T extends string | number>(of: (nowMs: number) => T): T {
  return useSyncExternalStore(clock.subscribe, () => of(clock.get()));
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
