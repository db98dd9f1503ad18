/** The focus stays where somebody works, while the page changes under it. */
import { type RefObject, useEffect } from "react";
import { opens, rowOf, rowTargets } from "./row-targets.ts";

/** Where an element is, so that another one in its place can be found when it is gone. */
export interface FocusPlace {
  readonly element: HTMLElement;
  /** From the inside out, below `main`. */
  readonly ancestors: readonly HTMLElement[];
  /** Among the rows of the view; -1: it is in none. */
  readonly row: number;
}

export function placeOf(element: HTMLElement, main: HTMLElement): FocusPlace {
  const ancestors: HTMLElement[] = [];
  for (let each = element.parentElement; each !== null && each !== main; each = each.parentElement)
    ancestors.push(each);
  const own = rowOf(element);
  const row = own === null ? -1 : rowTargets(main).findIndex((target) => rowOf(target) === own);
  return { element, ancestors, row };
}

/**
 * Gives the focus back. If the element is gone: to the row that has come in the place of its row, or to the
 * button that has come in its place, as Pin in that of Unpin.
 */
export function focusAt(place: FocusPlace, main: HTMLElement): void {
  (still(place) ?? rowAt(place, main) ?? beside(place) ?? main).focus({ preventScroll: true });
}

function still({ element }: FocusPlace): HTMLElement | undefined {
  return element.isConnected ? element : undefined;
}

function rowAt({ row }: FocusPlace, main: HTMLElement): HTMLElement | undefined {
  if (row === -1) return undefined;
  const targets = rowTargets(main);
  return targets[Math.min(row, targets.length - 1)];
}

function beside({ ancestors }: FocusPlace): HTMLElement | undefined {
  for (const each of ancestors) {
    const found = each.isConnected ? each.querySelector<HTMLElement>(opens) : null;
    if (found?.checkVisibility()) return found;
  }
  return undefined;
}

/** Requests start and resources come back at any time, and their rows go. Otherwise the next key would start at the top. */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let place: FocusPlace | undefined;
    const onFocus = ({ target }: FocusEvent) => {
      const view = main.current;
      const isWithin = view !== null && target instanceof HTMLElement && target !== view;
      place = isWithin && view.contains(target) ? placeOf(target, view) : undefined;
    };
    // A click beside it leaves it for good. What is removed is gone a moment later, and the window may only lose the focus.
    const onLeave = ({ target }: FocusEvent) =>
      queueMicrotask(() => {
        const isLeft = target instanceof HTMLElement && target.isConnected;
        if (isLeft && document.activeElement === document.body) place = undefined;
      });
    const observer = new MutationObserver(() => {
      if (place === undefined || place.element.isConnected) return;
      const gone = place;
      place = undefined;
      if (main.current !== null && document.activeElement === document.body)
        focusAt(gone, main.current);
    });
    // There is no view before somebody has signed in.
    document.addEventListener("focusin", onFocus);
    document.addEventListener("focusout", onLeave);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("focusout", onLeave);
      observer.disconnect();
    };
  }, [main]);
}

/** A list that is read again is there within this time. */
const awaitedMs = 2_000;

/** Moves the focus from `main` to what this selects, as soon as it is there. Returns a function that stops waiting. */
export function focusWhenThere(main: HTMLElement, selector: string): () => void {
  const found = () => {
    const element = main.querySelector<HTMLElement>(selector);
    if (element !== null && document.activeElement === main) element.focus({ preventScroll: true });
    return element !== null;
  };
  if (found()) return () => {};
  const observer = new MutationObserver(() => found() && observer.disconnect());
  observer.observe(main, { childList: true, subtree: true });
  const timer = setTimeout(() => observer.disconnect(), awaitedMs);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
