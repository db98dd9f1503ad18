/** What is read below a list that grows and shrinks stays where it is, while a hand is there. */
import { type RefObject, useEffect, useRef } from "react";

/** Who has not moved the pointer for this long reads something else. */
const handMs = 5_000;

interface Seen {
  /** The lower edge of the list in the window, before it changed and now. */
  readonly before: number;
  readonly now: number;
  /** Where the pointer was last; undefined: there is none. */
  readonly pointerY: number | undefined;
  readonly movedMsAgo: number;
}

/** How far to scroll, so that what is below the pointer stays there. */
export function shiftFor({ before, now, pointerY, movedMsAgo }: Seen): number {
  const isBelow = pointerY !== undefined && pointerY > before;
  return isBelow && movedMsAgo < handMs ? now - before : 0;
}

/** For the element whose height changes. */
export function useSteadyBelow<T extends HTMLElement>(): RefObject<T | null> {
  const list = useRef<T>(null);
  useEffect(() => {
    const bottom = () => list.current?.getBoundingClientRect().bottom ?? 0;
    let before = bottom();
    let pointer: { readonly y: number; readonly at: number } | undefined;
    const move = ({ pointerType, clientY: y }: PointerEvent) => {
      // A finger scrolls by itself.
      pointer = pointerType === "mouse" ? { y, at: Date.now() } : undefined;
    };
    const scroll = () => {
      before = bottom();
    };
    const watch = new ResizeObserver(() => {
      const movedMsAgo = Date.now() - (pointer?.at ?? 0);
      const by = shiftFor({ before, now: bottom(), pointerY: pointer?.y, movedMsAgo });
      if (by !== 0) window.scrollBy({ top: by, behavior: "instant" });
      before = bottom();
    });
    watch.observe(document.body);
    window.addEventListener("pointermove", move, { passive: true });
    window.addEventListener("scroll", scroll, { passive: true });
    return () => {
      watch.disconnect();
      window.removeEventListener("pointermove", move);
      window.removeEventListener("scroll", scroll);
    };
  }, []);
  return list;
}
