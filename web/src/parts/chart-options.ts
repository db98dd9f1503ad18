/** The look of a chart for uPlot: axes, lines, the cursor, marks. */
import uPlot from "uplot";
import { bars } from "./bars.ts";
import { axisTime, nearestOf, type Scale } from "./chart-axes.ts";
import type { Line } from "./time-chart.tsx";

export interface Look {
  readonly lines: readonly Line[];
  readonly scale: Scale;
  readonly element: HTMLElement;
  /** From where to where, in seconds; undefined: as far as the data goes. */
  readonly span: () => readonly [number, number] | undefined;
  /** How long each bar or step is, in seconds. */
  readonly barSeconds: () => number | undefined;
  readonly onDraw: (chart: uPlot) => void;
  readonly onZoom: ((from: number, to: number) => void) | undefined;
  readonly onCursor: (chart: uPlot) => void;
}

const steps = uPlot.paths.stepped?.({ align: 1 });
const stepped = steps === undefined ? undefined : { paths: steps };
const dashes = { dashed: [4, 3], dotted: [1.5, 2.5] };
/** A shorter drag is a click. */
const dragPixelsMin = 8;

/** No value is outside of the chart, even if it is above the usual top. */
function topOf(max: number | null, { top, topMin = 0.1 }: Scale): number {
  const highest = max ?? 0;
  return top === undefined ? Math.max(highest * 1.1, topMin) : Math.max(highest, top);
}

/** Values without a neighbour, which no line shows. A line goes on over times at which it is not read. */
function lonelyPoints(values: uPlot.AlignedData[number] | undefined): number[] {
  const read = Array.from(values ?? [], (value, at) => ({ value, at })).filter(
    ({ value }) => value !== undefined,
  );
  const has = (index: number) => (read[index]?.value ?? null) !== null;
  return read.flatMap(({ at }, index) => {
    return has(index) && !has(index - 1) && !has(index + 1) ? [at] : [];
  });
}

interface Step {
  readonly seconds: number;
  readonly isBar: boolean;
  /** It has nothing else: there is nothing to read between them. */
  readonly isDots: boolean;
}

/** The last time, which may have a value of its own, is read from this near, in pixels. */
const endNear = 6;

/**
 * A pointer reads the step or the bar that it is over: the line stands at the beginning of a step, where its
 * value is drawn, and in the middle of a bar.
 */
function placeRead(self: uPlot, left: number, step: Step): number {
  const times = Array.from(self.data[0]);
  const last = times.at(-1);
  if (left < 0 || last === undefined) return left;
  if (step.isDots && self.root.matches(":hover")) {
    const [, ...lines] = self.data;
    const dots = times.filter((_, index) => lines.some((line) => (line[index] ?? null) !== null));
    return (
      nearestOf(
        dots.map((time) => self.valToPos(time, "x")),
        left,
      ) ?? left
    );
  }
  const end = self.valToPos(last, "x");
  if (!step.isBar && Math.abs(end - left) < endNear) return end;
  // What another chart has placed at the beginning of a step is not before it.
  const at = self.posToVal(left, "x") + step.seconds * 0.01;
  const start = times.findLast((time) => time <= at) ?? times[0] ?? at;
  // Just before its middle, so that its own start is the nearest.
  return self.valToPos(start + (step.isBar ? step.seconds * 0.49 : 0), "x");
}

export function chartOptions(look: Look): Omit<uPlot.Options, "width" | "height"> {
  const { lines, scale, element, span, barSeconds, onZoom, onCursor, onDraw } = look;
  const colour = colourReader(element);
  const isBar = lines.some(({ draw }) => draw === "bars");
  const isDots = lines.every(({ draw }) => draw === "dots");
  const axis = {
    stroke: colour("var(--faint)"),
    grid: { stroke: colour("var(--line)"), width: 1 },
  };
  const font = "11px system-ui";
  return {
    legend: { show: false },
    // On the right, half of the longest label: 05:00:30.
    padding: [8, 26, 0, 0],
    cursor: {
      y: false,
      // A bar under the pointer is marked as a whole.
      points: { size: isBar ? 0 : 6 },
      // A line that is not there at this time has no point elsewhere.
      dataIdx: (_self, _series, read) => read,
      move: (self, left, top) => [
        placeRead(self, left, { seconds: barSeconds() ?? 0, isBar, isDots }),
        top,
      ],
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      sync: { key: "berth" },
    },
    scales: {
      x: { range: (_self, min, max) => [...(span() ?? [min, max])] },
      y: { range: (_self, _min, max) => [0, topOf(max, scale)] },
    },
    axes: [
      {
        ...{ ...axis, ticks: { show: false }, size: 26, font, space: 64 },
        values: (_self, splits, _axis, _space, step) => splits.map((at) => axisTime(at, step)),
      },
      {
        ...{ ...axis, ticks: { show: false }, size: 56, font, space: 22 },
        ...(scale.steps === undefined ? undefined : { incrs: scale.steps }),
        values: (_self, splits, _axis, _space, step) => {
          return splits.map((value) => scale.format(value, step));
        },
      },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: colour(paintOf(line)),
        width: 1.5,
        ...(line.dash && { dash: dashes[line.dash] }),
        points: {
          show: line.draw !== "bars",
          size: 5,
          fill: colour(paintOf(line)),
          ...(line.draw === undefined && {
            filter: (self: uPlot, index: number) => lonelyPoints(self.data[index]),
          }),
        },
        ...(line.stepped ? stepped : undefined),
        ...(line.draw === "dots" && { paths: () => null }),
        ...(line.draw === "bars" && { paths: bars(barSeconds) }),
        ...(line.draw === "bars" && { fill: colour(paintOf(line)), width: 0 }),
        ...(line.fill ? { fill: colour("var(--spark)") } : undefined),
      })),
    ],
    hooks: {
      setCursor: [onCursor],
      setSelect: [
        (self) => {
          const { left, width } = self.select;
          if (width < dragPixelsMin) return;
          onZoom?.(self.posToVal(left, "x"), self.posToVal(left + width, "x"));
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      draw: [onDraw],
    },
  };
}

/** The colour of a line, for CSS. */
export function paintOf({ colour, isPale = false }: Pick<Line, "colour" | "isPale">): string {
  return isPale ? `color-mix(in srgb, var(--${colour}) 45%, transparent)` : `var(--${colour})`;
}

/** A canvas cannot use CSS variables, so their values are read from an element. */
function colourReader(element: HTMLElement): (paint: string) => string {
  return (paint) => {
    element.style.color = paint;
    const found = getComputedStyle(element).color;
    element.style.color = "";
    return found;
  };
}
