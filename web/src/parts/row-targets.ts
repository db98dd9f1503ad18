/** The rows of the lists of a view, as the keyboard goes through them. */
const rows = "[data-row]";
/** What opens a row: its first link, or what unfolds it. */
const opens = "a[href], summary, button";

/** A row that is a link itself has the focus; of the others, what opens it. Rows that open nothing are passed over. */
export function rowTargets(main: HTMLElement | null): HTMLElement[] {
  return [...(main?.querySelectorAll<HTMLElement>(rows) ?? [])].flatMap((row) => {
    return row.matches(opens) ? row : (row.querySelector<HTMLElement>(opens) ?? []);
  });
}

export function rowOf(element: Element): Element | null {
  return element.closest(rows);
}
