import { memo } from "react";
import { grouped } from "./numbers.ts";

interface Props {
  readonly held: readonly number[];
  readonly waiting: readonly number[];
  readonly total: number;
  /** What is held: `resources`; `%`: it is a part. */
  readonly unit: string;
  /** The number of samples from the left edge to the right one. */
  readonly span: number;
  /** The time that the line shows, in words. */
  readonly window: string;
}

const width = 240;
const height = 22;

/** Few waiting requests are no hill. */
const waitingTopMin = 5;

/**
 * Held resources as an area of all of them, waiting requests as a line up to their own most, which is beside
 * it: with one scale, a long queue would hide what is held. A gap is a time without samples.
 */
export const SparkLine = memo(function SparkLine(props: Props) {
  const { held, waiting, total, unit, span, window } = props;
  if (held.length === 0) return <span className="spark" />;
  const waitingMax = Math.max(0, ...waiting);
  const xOf = (index: number, length: number) =>
    (((span - length + index) / Math.max(1, span - 1)) * width).toFixed(1);
  const line = (values: readonly number[], top: number) => {
    const drawn = values.length === 1 ? [...values, ...values] : values;
    const y = (value: number) => height - 1 - (value / top) * (height - 2);
    return drawn.map((value, at) => `${xOf(at, drawn.length)},${y(value).toFixed(1)}`).join(" ");
  };
  const area = line(held, Math.max(1, total, ...held));
  const first = area.split(",", 1)[0];
  const of = unit === "%" ? " %" : ` of ${grouped(total)} ${unit}`;
  const use = `${grouped(held.at(-1) ?? 0)}${of} in use at last, at most ${grouped(Math.max(...held))}${unit === "%" ? " %" : ""}`;
  const words = `${window}: ${use}; at most ${grouped(waitingMax)} waiting`;
  return (
    <span className="spark-and-most">
      <svg
        className="spark"
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
      >
        <title>{words}</title>
        <polygon className="spark-held" points={`${first},${height} ${area} ${width},${height}`} />
        <polyline className="spark-top" points={area} />
        {waitingMax > 0 ? (
          <polyline
            className="spark-waiting"
            points={line(waiting, Math.max(waitingTopMin, waitingMax))}
          />
        ) : null}
      </svg>
      <small aria-hidden="true">{waitingMax === 0 ? "" : grouped(waitingMax)}</small>
    </span>
  );
});
