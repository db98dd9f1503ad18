/** Where the focus goes after a dialog. */
import { rowOf, rowTargets } from "./row-targets.ts";

/** The event that takes a row away comes soon after the answer to the action. */
const awaitedMs = 5_000;

/**
 * Remembers what has the focus, and returns a function that gives it back. What was done may take the row away, and its button
 * with it, now or when the event comes: then the row that has come in its place gets the focus, and not the whole page.
 */
export function focusToReturn(main: HTMLElement | null): () => void {
  const from = document.activeElement;
  const row = from === null ? null : rowOf(from);
  const index = rowTargets(main).findIndex((target) => rowOf(target) === row);
  const instead = () => {
    const targets = row === null ? [] : rowTargets(main);
    (targets[Math.min(index, targets.length - 1)] ?? main)?.focus({ preventScroll: true });
  };
  return () => {
    if (!(from instanceof HTMLElement) || !from.isConnected) return instead();
    from.focus({ preventScroll: true });
    if (main === null) return;
    const observer = new MutationObserver(() => {
      if (from.isConnected) return;
      observer.disconnect();
      if (document.activeElement === document.body) instead();
    });
    observer.observe(main, { childList: true, subtree: true });
    setTimeout(() => observer.disconnect(), awaitedMs);
  };
}
