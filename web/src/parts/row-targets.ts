/** The rows of the lists of a view, as the keyboard goes through them. */
const rows = "[data-row]";
/** What opens a row: its first link, or what unfolds it. */
export const opens = "a[href], summary, button";

/**
 * A row that is a link itself has the focus; of the others, the first thing that opens it and can be seen. Rows that open
 * nothing, and those in a closed list, are passed over; so are those before `after`.
 */
export function rowTargets(main: HTMLElement | null, after?: Element): HTMLElement[] {
  return [...(main?.querySelectorAll<HTMLElement>(rows) ?? [])].flatMap((row) => {
    if (after !== undefined && !isBehind(row, after)) return [];
    const found = row.matches(opens) ? [row] : [...row.querySelectorAll<HTMLElement>(opens)];
    return found.find((element) => element.checkVisibility({ visibilityProperty: true })) ?? [];
  });
}

export function rowOf(element: Element): Element | null {
  return element.closest(rows);
}

function isBehind(row: Element, before: Element): boolean {
  return (before.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
