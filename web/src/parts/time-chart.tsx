import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useStore } from "../data/store.ts";
import { theme } from "../theme.ts";
import type { Scale } from "./chart-axes.ts";
import { drawMarks, type Mark, markWords } from "./chart-marks.ts";
import { chartOptions, paintOf } from "./chart-options.ts";
import { barTimes, momentText } from "./clock-time.ts";

export interface Line {
  readonly label: string;
  /** The name of a colour of the theme. The same thing has the same colour in every chart. */
  readonly colour: string;
  /**
   * Null: nothing is known, which is drawn as a gap. Undefined: the line does not exist at that time, and
   * is not read there.
   */
  readonly values: readonly (number | null | undefined)[];
  readonly fill?: boolean;
  readonly dash?: "dashed" | "dotted";
  /** Draws steps: a value is valid until the next one. */
  readonly stepped?: boolean;
  /** `bars` for what is counted, `dots` for values that say nothing about the time between them. */
  readonly draw?: "bars" | "dots";
  /** It may still change. */
  readonly isPale?: boolean;
  /** Its name is only read under the pointer. */
  readonly isUnnamed?: boolean;
  /** From this value on it only ends what is before, and is not read; absent: all is read. */
  readonly readUntil?: number;
  /** The figure beside the name; absent: the last value. */
  readonly total?: number | null;
  /** What this figure is: `in all`. */
  readonly aside?: string;
}

interface Props {
  readonly title: string;
  /** What one bar or one point is. */
  readonly about?: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly scale: Scale;
  readonly marks?: readonly Mark[];
  /** How long each bar or step is, in seconds: the time under the pointer is that of all of it. */
  readonly barSeconds?: number;
  /** From where to where, in seconds; absent: as far as the data goes. */
  readonly span?: readonly [number, number];
  /** Said instead of a picture without any value. */
  readonly emptyText?: string;
  /** Said instead of a picture that would be a line at 0. */
  readonly flatText?: string | undefined;
  /** Called when somebody has selected a part of it. */
  readonly onZoom?: (from: number, to: number) => void;
}

const height = 160;
const noMarks: readonly Mark[] = [];

/** Values over time. Under the pointer all lines are read at once; a figure of each is text. */
export function TimeChart(props: Props) {
  const { title, about, times, lines, scale, marks = noMarks, span, emptyText, onZoom } = props;
  const { barSeconds, flatText } = props;
  const place = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const latest = useRef({ lines, marks, scale, span, barSeconds });
  latest.current = { lines, marks, scale, span, barSeconds };
  const name = useStore(theme);
  const data = useMemo<uPlot.AlignedData>(
    () => [
      [...times],
      ...lines.map((line) =>
        times.map((_, index) => (flatText === undefined ? drawnAt(line, index) : null)),
      ),
    ],
    [times, lines, flatText],
  );
  const look = lines
    .map(({ values: _, total: __, aside: ___, readUntil: ____, ...line }) => JSON.stringify(line))
    .join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another look makes a new chart.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const width = () => Math.max(200, element.clientWidth);
    const options = chartOptions({
      ...{ lines, scale, element, onZoom },
      span: () => latest.current.span,
      barSeconds: () => latest.current.barSeconds,
      onDraw: (self) => drawMarks(self, latest.current.marks),
      onCursor: (self) => readUnderCursor(self, tip.current, latest.current),
    });
    chart.current = new uPlot({ ...options, width: width(), height }, data, element);
    const watch = new ResizeObserver(() => chart.current?.setSize({ width: width(), height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [look, name, scale, onZoom]);
  useEffect(() => chart.current?.setData(data), [data]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart reads the marks when it draws.
  useEffect(() => chart.current?.redraw(false), [marks]);
  const isEmpty =
    flatText !== undefined ||
    (emptyText !== undefined &&
      lines.every(({ values }) => values.every((value) => (value ?? null) === null)));
  return (
    <figure className="chart">
      <figcaption>
        <strong>
          {title} {about === undefined ? null : <small>{about}</small>}
        </strong>
        {lines.filter(isNamed).map((line) => (
          <span key={line.label}>
            <i
              className={line.draw ?? line.dash}
              style={{ color: paintOf(line) }}
              aria-hidden="true"
            />
            {line.label}
            {isEmpty ? null : (
              <>
                {" "}
                <b>{figureOf(line, scale)}</b> {line.aside}
              </>
            )}
          </span>
        ))}
      </figcaption>
      <div ref={place} className="plot" aria-hidden="true">
        <div ref={tip} className="chart-tip" hidden />
        {isEmpty ? <p className="chart-empty">{flatText ?? emptyText}</p> : null}
      </div>
    </figure>
  );
}

function isNamed({ isUnnamed = false }: Line): boolean {
  return !isUnnamed;
}

/** Bars are as wide as the times between values allow: a time without one counts too. */
function drawnAt({ values, draw }: Line, index: number): number | null | undefined {
  return draw === "bars" ? (values[index] ?? null) : values[index];
}

function figureOf({ values, total }: Line, { format }: Scale): string {
  const figure = total === undefined ? values.findLast((value) => (value ?? null) !== null) : total;
  return figure === undefined || figure === null ? "–" : format(figure);
}

/** A mark this near to the pointer is named, in pixels. */
const markNear = 6;

interface Shown {
  readonly lines: readonly Line[];
  readonly marks: readonly Mark[];
  readonly scale: Scale;
  readonly barSeconds: number | undefined;
  readonly span: readonly [number, number] | undefined;
}

/** Writes the time and all values under the pointer into the tip. */
function readUnderCursor(self: uPlot, tip: HTMLElement | null, shown: Shown): void {
  if (tip === null) return;
  const { idx, left = -1 } = self.cursor;
  const at = idx === null || idx === undefined ? undefined : self.data[0][idx];
  if (at === undefined || left < 0) {
    tip.hidden = true;
    markBar(self, undefined, 0);
    return;
  }
  if (shown.lines.some(isBars)) markBar(self, at, shown.barSeconds ?? 0);
  const near = shown.marks.filter((mark) => isNear(self, mark, left));
  tip.replaceChildren(
    // Each its own: charts that follow the pointer have other steps.
    textLine("strong", timeText(at, shown)),
    ...shown.lines.flatMap(({ label, values, readUntil = values.length }) => {
      const value = values[idx ?? 0];
      if (value === undefined || (idx ?? 0) >= readUntil) return [];
      return textLine(
        "span",
        `${label}: ${value === null ? "nothing" : shown.scale.format(value)}`,
      );
    }),
    ...near.map((mark) => textLine("em", markWords(mark))),
  );
  tip.hidden = false;
  placeTip(tip, self.over, left);
}

/** In pixels, from the pointer. */
const tipAside = 12;

/** Within the plot, beside the pointer: it hides no name, no time of the axis, and nothing below. */
function placeTip(tip: HTMLElement, plot: HTMLElement, x: number): void {
  const { offsetLeft, offsetTop, clientWidth, clientHeight } = plot;
  const after = x + tipAside;
  const isAfter = after + tip.offsetWidth <= clientWidth;
  const left = isAfter ? after : x - tipAside - tip.offsetWidth;
  tip.style.left = `${offsetLeft + Math.max(0, Math.min(left, clientWidth - tip.offsetWidth))}px`;
  tip.style.top = `${offsetTop + Math.min(0, clientHeight - tip.offsetHeight)}px`;
}

function isBars({ draw }: Line): boolean {
  return draw === "bars";
}

/** Marks the bar that is read, in all its width. */
function markBar(self: uPlot, at: number | undefined, seconds: number): void {
  let mark = self.over.querySelector<HTMLElement>(".bar-read");
  if (mark === null) {
    mark = document.createElement("i");
    mark.className = "bar-read";
    self.over.prepend(mark);
  }
  mark.hidden = at === undefined;
  if (at === undefined) return;
  const left = self.valToPos(at, "x");
  mark.style.left = `${left}px`;
  mark.style.width = `${self.valToPos(at + seconds, "x") - left}px`;
}

/** A moment, or from when to when a bar or a step is, at most until the chart ends. */
function timeText(at: number, { lines, barSeconds, span }: Shown): string {
  const next = at + (barSeconds ?? 0);
  const end = lines.some(isBars) ? next : Math.min(next, span?.[1] ?? next);
  return end <= at ? momentText(at * 1_000) : barTimes(at * 1_000, end * 1_000);
}

function isNear(self: uPlot, { at, until }: Mark, left: number): boolean {
  const start = self.valToPos(at, "x");
  const end = until === undefined ? start : self.valToPos(until, "x");
  return left >= start - markNear && left <= end + markNear;
}

function textLine(tag: "strong" | "span" | "em", text: string): HTMLElement {
  const line = document.createElement(tag);
  line.textContent = text;
  return line;
}
