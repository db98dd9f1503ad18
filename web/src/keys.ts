/**
 * The keyboard: `/` searches, `j` and `k` or the arrows move along rows, Enter follows the link, `g`
 * and a letter go to a view, `?` lists all of this.
 */
import { type RefObject, useEffect } from "react";
import { whoami } from "./data/live.ts";
import { toggleKeyList } from "./parts/key-list.tsx";
import { go } from "./router.ts";
import { viewsFor } from "./view-list.ts";

const rows = "[data-row]";
/** What opens a row: its first link, or what unfolds it. */
const opens = "a[href], summary, button";

export function useKeys(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let goes = false;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof Element ? event.target : undefined;
      if (target?.closest("input, textarea, select, dialog") != null) return;
      const views = goes ? viewsFor(whoami.get()) : [];
      const view = views.find(({ key }) => key === event.key)?.href;
      goes = event.key === "g";
      if (view !== undefined) return go(view);
      if (event.key === "?") return toggleKeyList();
      if (event.key === "/") return focusAnd(event, document.querySelector("#search"));
      if (event.key === "f") return focusAnd(event, document.querySelector("[data-filter]"));
      const step = steps[event.key];
      // The arrows scroll the page unless a row has the focus.
      const inRows = target?.closest(rows) != null;
      if (step === undefined || (event.key.startsWith("Arrow") && !inRows)) return;
      focusAnd(event, neighbour(main.current, step));
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [main]);
}

const steps: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** A row that is a link itself has the focus; of the others, what opens it. Rows that open nothing are passed over. */
function neighbour(main: HTMLElement | null, step: number): HTMLElement | null {
  const targets = [...(main?.querySelectorAll<HTMLElement>(rows) ?? [])].flatMap((row) => {
    return row.matches(opens) ? row : (row.querySelector<HTMLElement>(opens) ?? []);
  });
  const now = document.activeElement?.closest(rows);
  const index = targets.findIndex((target) => target.closest(rows) === now);
  const first = step > 0 ? 0 : targets.length - 1;
  return targets[index === -1 ? first : index + step] ?? null;
}

function focusAnd(event: KeyboardEvent, element: HTMLElement | null): void {
  if (element === null) return;
  event.preventDefault();
  element.focus();
  element.scrollIntoView({ block: "nearest" });
  if (element instanceof HTMLInputElement) element.select();
}
