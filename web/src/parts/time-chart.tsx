import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useStore } from "../data/store.ts";
import { theme } from "../theme.ts";

export interface Line {
  readonly label: string;
  /** The name of a colour of the theme. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly fill?: boolean;
  /** Draws steps: a value is valid until the next one. */
  readonly stepped?: boolean;
}

interface Props {
  readonly title: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** The top of the scale, if it is known: 1 for a share. */
  readonly top?: number | undefined;
}

const height = 150;

/** Values over time, also as text for screen readers. */
export function TimeChart({ title, times, lines, format, top }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const name = useStore(theme);
  const data = useMemo<uPlot.AlignedData>(
    () => [[...times], ...lines.map(({ values }) => [...values])],
    [times, lines],
  );
  const look = lines.map(({ values: _, ...line }) => JSON.stringify(line)).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another look makes a new chart.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const width = () => Math.max(200, element.clientWidth);
    const options = optionsOf({ lines, format, top, element });
    chart.current = new uPlot({ ...options, width: width(), height }, data, element);
    const watch = new ResizeObserver(() => chart.current?.setSize({ width: width(), height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [look, name, top]);
  useEffect(() => chart.current?.setData(data), [data]);
  return (
    <figure className="chart">
      <figcaption>
        {title}
        {lines.map((line) => (
          <span key={line.label}>
            <i style={{ background: `var(--${line.colour})` }} aria-hidden="true" />
            {line.label} <b>{lastOf(line.values, format)}</b>
          </span>
        ))}
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  );
}

function lastOf(values: readonly (number | null)[], format: (value: number) => string): string {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? "–" : format(last);
}

const daySeconds = 86_400;

/** `14:30`, or the date if the step is a day. */
function timeOf(at: number, splits: readonly number[]): string {
  const date = new Date(at * 1_000);
  const [first = 0, second = 0] = splits;
  if (second - first >= daySeconds) return date.toLocaleDateString([], { weekday: "short" });
  return date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

const steps = uPlot.paths.stepped?.({ align: 1 });
const stepped = steps === undefined ? undefined : { paths: steps };

/** No value is outside of the chart, even if it is above the usual top. */
function topOf(max: number, top: number | undefined): number {
  return top === undefined ? Math.max(max * 1.1, 1) : Math.max(max, top);
}

type Look = Pick<Props, "lines" | "format" | "top"> & { element: HTMLElement };

function optionsOf({ lines, format, top, element }: Look): Omit<uPlot.Options, "width" | "height"> {
  const style = getComputedStyle(element);
  // A canvas cannot use CSS variables, so their values are read from an element.
  const colour = (token: string) => {
    element.style.color = `var(--${token})`;
    const found = style.color;
    element.style.color = "";
    return found;
  };
  const axis = { stroke: colour("faint"), grid: { stroke: colour("line"), width: 1 } };
  return {
    legend: { show: false },
    padding: [8, 6, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_self, _min, max) => [0, topOf(max, top)] } },
    axes: [
      {
        ...axis,
        ticks: { show: false },
        size: 26,
        font: "11px system-ui",
        values: (_self, splits) => splits.map((at) => timeOf(at, splits)),
      },
      {
        ...axis,
        ticks: { show: false },
        size: 56,
        font: "11px system-ui",
        values: (_self, splits) => splits.map(format),
      },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: colour(line.colour),
        width: 1.5,
        points: { show: line.values.filter((value) => value !== null).length < 3, size: 5 },
        ...(line.stepped ? stepped : undefined),
        ...(line.fill ? { fill: colour("spark") } : undefined),
      })),
    ],
  };
}
