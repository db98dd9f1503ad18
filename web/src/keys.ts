/**
 * The keyboard: `/` searches, `j` and `k` or the arrows move along rows, Enter follows the link, `g`
 * and a letter go to a view, `?` lists all of this.
 */
import { type RefObject, useEffect } from "react";
import { whoami } from "./data/live.ts";
import { toggleKeyList } from "./parts/key-list.tsx";
import { rowOf, rowTargets } from "./parts/row-targets.ts";
import { go } from "./router.ts";
import { viewsFor } from "./view-list.ts";

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
      const inRows = target !== undefined && rowOf(target) !== null;
      if (step === undefined || (event.key.startsWith("Arrow") && !inRows)) return;
      focusAnd(event, neighbour(main.current, step));
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [main]);
}

const steps: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

function neighbour(main: HTMLElement | null, step: number): HTMLElement | null {
  const targets = rowTargets(main);
  const now = document.activeElement === null ? null : rowOf(document.activeElement);
  const index = targets.findIndex((target) => rowOf(target) === now);
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
