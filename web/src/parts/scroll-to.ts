import { useEffect } from "react";
import { usePlace } from "../router.ts";

/** What is above comes within this time. */
const settledMs = 4_000;
/** Who moves the view wants to be somewhere else. */
const handEvents = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/**
 * A section comes later than the address that names it, so the browser does not find it by itself; what is above it
 * comes even later, and pushes it out of the window.
 */
export function useScrollTo(id: string): void {
  const place = usePlace();
  // biome-ignore lint/correctness/useExhaustiveDependencies: links of the same view lead to it too.
  useEffect(() => {
    if (location.hash !== `#${id}`) return;
    const scroll = () => document.getElementById(id)?.scrollIntoView();
    scroll();
    const sizes = new ResizeObserver(scroll);
    sizes.observe(document.body);
    const stop = () => sizes.disconnect();
    const timer = setTimeout(stop, settledMs);
    for (const type of handEvents) addEventListener(type, stop, { once: true });
    return () => {
      stop();
      clearTimeout(timer);
      for (const type of handEvents) removeEventListener(type, stop);
    };
  }, [place, id]);
}
