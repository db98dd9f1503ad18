/** The look of a chart for uPlot: axes, lines, the cursor, marks. */
import uPlot from "uplot";
import { axisTime, type Scale } from "./chart-axes.ts";
import type { Line, Mark } from "./time-chart.tsx";

export interface Look {
  readonly lines: readonly Line[];
  readonly scale: Scale;
  readonly element: HTMLElement;
  readonly marks: () => readonly Mark[];
  readonly onZoom: ((from: number, to: number) => void) | undefined;
  readonly onCursor: (chart: uPlot) => void;
}

const steps = uPlot.paths.stepped?.({ align: 1 });
const stepped = steps === undefined ? undefined : { paths: steps };
/** A shorter drag is a click. */
const dragPixelsMin = 8;

/** No value is outside of the chart, even if it is above the usual top. */
function topOf(max: number | null, top: number | undefined): number {
  const highest = max ?? 0;
  return top === undefined ? Math.max(highest * 1.1, 0.1) : Math.max(highest, top);
}

/** Values without a neighbour, which no line shows. */
function lonelyPoints(values: uPlot.AlignedData[number] | undefined): number[] {
  const has = (at: number) => values?.[at] !== null && values?.[at] !== undefined;
  return Array.from(values ?? [], (_, at) => at).filter((at) => {
    return has(at) && !has(at - 1) && !has(at + 1);
  });
}

export function chartOptions(look: Look): Omit<uPlot.Options, "width" | "height"> {
  const { lines, scale, element, onZoom, onCursor } = look;
  const colour = colourReader(element);
  const axis = { stroke: colour("faint"), grid: { stroke: colour("line"), width: 1 } };
  const font = "11px system-ui";
  return {
    legend: { show: false },
    padding: [8, 18, 0, 0],
    cursor: {
      y: false,
      points: { size: 6 },
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      sync: { key: "berth" },
    },
    scales: { y: { range: (_self, _min, max) => [0, topOf(max, scale.top)] } },
    axes: [
      {
        ...{ ...axis, ticks: { show: false }, size: 26, font, space: 64 },
        values: (_self, splits, _axis, _space, step) => splits.map((at) => axisTime(at, step)),
      },
      {
        ...{ ...axis, ticks: { show: false }, size: 56, font, space: 34 },
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
        stroke: colour(line.colour),
        width: 1.5,
        ...(line.dashed ? { dash: [4, 3] } : undefined),
        points: {
          show: true,
          size: 5,
          filter: (self: uPlot, index: number) => lonelyPoints(self.data[index]),
        },
        ...(line.stepped ? stepped : undefined),
        ...(line.fill ? { fill: colour("spark") } : undefined),
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
      draw: [(self) => drawMarks(self, look.marks(), colour("faint"))],
    },
  };
}

/** A canvas cannot use CSS variables, so their values are read from an element. */
function colourReader(element: HTMLElement): (token: string) => string {
  return (token) => {
    element.style.color = `var(--${token})`;
    const found = getComputedStyle(element).color;
    element.style.color = "";
    return found;
  };
}

function drawMarks(self: uPlot, marks: readonly Mark[], stroke: string): void {
  const { ctx, bbox } = self;
  const { min = null, max = null } = self.scales["x"] ?? {};
  if (min === null || max === null) return;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.fillStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { at, until } of marks) {
    if (at > max || (until ?? at) < min) continue;
    const x = Math.round(self.valToPos(Math.max(at, min), "x", true));
    if (until !== undefined) {
      const end = self.valToPos(Math.min(until, max), "x", true);
      ctx.globalAlpha = 0.18;
      ctx.fillRect(x, bbox.top, Math.max(devicePixelRatio, end - x), bbox.height);
      ctx.globalAlpha = 1;
    }
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
