/** What happened, on a chart: a dashed line for a moment, a field for a time. */
import type uPlot from "uplot";
import { momentText } from "./clock-time.ts";

/** Something that happened and explains a curve. */
export interface Mark {
  /** Seconds since the epoch. */
  readonly at: number;
  /** The end, if it took time: an outage. */
  readonly until?: number;
  readonly text: string;
}

/** Those of a time. What names marks and what draws them must agree. */
export function marksWithin(marks: readonly Mark[], from: number, to: number): readonly Mark[] {
  return marks.filter(({ at, until }) => at <= to && (until ?? at) >= from);
}

export function markWords({ at, text }: Mark): string {
  return `${momentText(at * 1_000)} ${text}`;
}

/** Elements above the curves: they have the colours of the theme, and can be found. */
export function drawMarks(self: uPlot, marks: readonly Mark[]): void {
  const layer = layerOf(self.over);
  const { min = null, max = null } = self.scales["x"] ?? {};
  if (min === null || max === null) return layer.replaceChildren();
  layer.replaceChildren(
    ...marksWithin(marks, min, max).map((mark) => {
      const { at, until } = mark;
      const left = self.valToPos(Math.max(at, min), "x");
      const line = document.createElement("i");
      line.className = until === undefined ? "mark moment" : "mark outage";
      line.dataset["text"] = markWords(mark);
      line.title = markWords(mark);
      line.style.left = `${left}px`;
      if (until !== undefined) {
        const right = self.valToPos(Math.min(until, max), "x");
        line.style.width = `${Math.max(1, right - left)}px`;
      }
      return line;
    }),
  );
}

function layerOf(over: HTMLElement): Element {
  const found = over.querySelector(".marks");
  if (found !== null) return found;
  const layer = document.createElement("div");
  layer.className = "marks";
  over.prepend(layer);
  return layer;
}
