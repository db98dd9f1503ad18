/** Waits against a setting: three curves, with today's value marked. */
import { type Percentile, percentileLooks } from "../parts/percentile-looks.ts";
import { useIsPhone } from "../parts/phone.ts";
import { inWords } from "../parts/times.tsx";

export interface CurvePoint {
  /** As it is written. */
  readonly value: string;
  readonly x: number;
  /** Whether a missing wait is one that ends after the record. */
  readonly isKnown: boolean;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
}

interface Props {
  readonly title: string;
  readonly points: readonly CurvePoint[];
  /** What was recorded with today's value; undefined: no value is in force. */
  readonly recorded: CurvePoint | undefined;
  /** Those that do not match the record are grey. */
  readonly useless?: readonly Percentile[];
}

/** The highest first, so that the others are drawn over it. */
const lines = (["p99", "p90", "p50"] as const).map((key) => ({ key, ...percentileLooks[key] }));

type Line = (typeof lines)[number];

/** One unit is about a pixel, so that the labels have the size of other text. */
const wideWidth = 540;
const narrowWidth = 340;
const height = 282;
const markWidth = 11;
const edge = { left: 66, right: 18, top: 26, bottom: 34 };

/** The table below it has the same figures, so that nobody depends on the picture. */
export function WaitCurves({ title, points, recorded, useless = [] }: Props) {
  const width = useIsPhone() ? narrowWidth : wideWidth;
  const xs = points.map(({ x }) => x);
  const [from, to] = [Math.min(...xs), Math.max(...xs)];
  const isToday = recorded !== undefined && recorded.x >= from && recorded.x <= to;
  const drawn = isToday ? [...points, recorded] : points;
  const above = points.flatMap((point) => {
    const missing = point.isKnown ? lines.filter(({ key }) => point[key] === null) : [];
    return missing.length === 0 ? [] : [{ point, missing }];
  });
  const top = niceTop(Math.max(1, ...drawn.map(({ p99, p90, p50 }) => p99 ?? p90 ?? p50 ?? 0)));
  const left = (x: number) => {
    const share = to === from ? 0.5 : (x - from) / (to - from);
    return edge.left + share * (width - edge.left - edge.right);
  };
  const down = (seconds: number) =>
    height - edge.bottom - (seconds / top) * (height - edge.top - edge.bottom);
  return (
    <figure className="chart curves">
      <Caption title={title} hasRecorded={isToday} hasAbove={above.length > 0} />
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}; see the table`}>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share} className="curve-grid">
            <line
              x1={edge.left}
              x2={width - edge.right}
              y1={down(share * top)}
              y2={down(share * top)}
            />
            <text x={edge.left - 8} y={down(share * top) + 4} textAnchor="end">
              {inWords(share * top)}
            </text>
          </g>
        ))}
        {isToday ? (
          <g className="curve-today">
            <line
              x1={left(recorded.x)}
              x2={left(recorded.x)}
              y1={edge.top}
              y2={height - edge.bottom}
            />
            {/* Above its line, and above those that lead out of the picture. */}
            <text x={left(recorded.x)} y={edge.top - 12} textAnchor="middle">
              today
            </text>
          </g>
        ) : null}
        {points.map(({ value, x }, index) => (
          <text key={value} x={left(x)} y={height - edge.bottom + 22} textAnchor="middle">
            {isCrowded(points, index, left) ? "" : value}
          </text>
        ))}
        {lines.map(({ key, colour, dash }) => (
          <g key={key} className={dash} style={{ color: colourOf({ key, colour }, useless) }}>
            {unbroken(points, key).map(({ run, leadsOut }) => (
              <polyline
                key={`${run[0]?.value} ${leadsOut}`}
                className={leadsOut ? "leads-out" : undefined}
                points={run.map((point) => `${left(point.x)},${down(point[key] ?? top)}`).join(" ")}
              />
            ))}
            {points.map((point) => {
              const seconds = point[key];
              return seconds === null ? null : (
                <circle key={point.value} cx={left(point.x)} cy={down(seconds)} r={3.5}>
                  <title>{`${point.value}: ${inWords(seconds)}`}</title>
                </circle>
              );
            })}
            {isToday && recorded[key] !== null ? (
              <circle className="ring" cx={left(recorded.x)} cy={down(recorded[key])} r={5.5}>
                <title>{`recorded: ${inWords(recorded[key])}`}</title>
              </circle>
            ) : null}
          </g>
        ))}
        {above.map((one) => (
          <Above key={one.point.value} {...one} x={left(one.point.x)} useless={useless} />
        ))}
      </svg>
    </figure>
  );
}

function colourOf({ key, colour }: Pick<Line, "key" | "colour">, useless: readonly Percentile[]) {
  return `var(--${useless.includes(key) ? "line-strong" : colour})`;
}

interface AboveProps {
  readonly point: CurvePoint;
  readonly missing: readonly Line[];
  readonly x: number;
  readonly useless: readonly Percentile[];
}

/** Waits that are above the picture, each with the colour of its line. */
function Above({ point, missing, x, useless }: AboveProps) {
  // Not over the labels of the axis.
  const from = Math.max(x - ((missing.length - 1) / 2) * markWidth, edge.left);
  return missing.map((line, index) => (
    <text
      key={line.key}
      className="above"
      style={{ color: colourOf(line, useless) }}
      x={from + index * markWidth}
      y={edge.top + 4}
      textAnchor="middle"
    >
      ▲<title>{`${point.value}: fewer than ${line.label.replace(" within", "")} started`}</title>
    </text>
  ));
}

interface CaptionProps {
  readonly title: string;
  readonly hasRecorded: boolean;
  readonly hasAbove: boolean;
}

function Caption({ title, hasRecorded, hasAbove }: CaptionProps) {
  return (
    <figcaption>
      {title} <small>of all that asked</small>
      {lines.toReversed().map(({ key, label, colour, dash }) => (
        <span key={key}>
          <i className={dash} style={{ color: `var(--${colour})` }} />
          {label}
        </span>
      ))}
      {hasRecorded ? (
        <span>
          <i className="ring" />
          recorded
        </span>
      ) : null}
      {hasAbove ? <span>▲ fewer started</span> : null}
    </figcaption>
  );
}

/**
 * A wait that ends after the record is above the picture, and the line to it leads out of it. Between two of them, and where
 * nobody knows anything, there is no line.
 */
function unbroken(points: readonly CurvePoint[], key: Percentile): Piece[] {
  const runs: CurvePoint[][] = [[]];
  for (const point of points) {
    const run = runs.at(-1) ?? [];
    if (point[key] !== null) run.push(point);
    else {
      if (point.isKnown && run.length > 0) run.push(point);
      runs.push(point.isKnown ? [point] : []);
    }
  }
  return runs
    .filter((run) => run.length > 1 && run.some((point) => point[key] !== null))
    .flatMap((run) => piecesOf(run, key));
}

interface Piece {
  readonly run: readonly CurvePoint[];
  /** It ends at no value. */
  readonly leadsOut: boolean;
}

/** What leads out of the picture is drawn apart: its end is no value. */
function piecesOf(run: readonly CurvePoint[], key: Percentile): Piece[] {
  const isOut = (point: CurvePoint | undefined) => point?.[key] === null;
  const from = isOut(run[0]) ? 1 : 0;
  const to = isOut(run.at(-1)) ? run.length - 1 : run.length;
  const pieces = [
    { run: run.slice(0, from + 1), leadsOut: true },
    { run: run.slice(from, to), leadsOut: false },
    { run: run.slice(to - 1), leadsOut: true },
  ];
  return pieces.filter((piece) => piece.run.length > 1);
}

/** A label that would touch the one before it is left out; the table has it. */
function isCrowded(
  points: readonly CurvePoint[],
  index: number,
  left: (x: number) => number,
): boolean {
  let lastAt = Number.NEGATIVE_INFINITY;
  for (const [each, { x, value }] of points.entries()) {
    const fits = left(x) - lastAt >= 12 + 7 * value.length;
    if (each === index) return !fits;
    if (fits) lastAt = left(x);
  }
  return false;
}

/** The first of 1, 2, 3, 5, 10, 15, 20, 30, 45 times a unit of time that is not below. */
export function niceTop(seconds: number): number {
  const unit = seconds <= 60 ? 1 : seconds <= 3_600 ? 60 : 3_600;
  const steps = [1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 60];
  const found = steps.find((step) => step * unit >= seconds);
  return found === undefined ? Math.ceil(seconds / (12 * unit)) * 12 * unit : found * unit;
}
