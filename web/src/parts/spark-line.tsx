import { memo } from "react";

interface Props {
  readonly held: readonly number[];
  readonly waiting: readonly number[];
  readonly total: number;
  /** The number of samples from the left edge to the right one. */
  readonly span: number;
  /** The time that the line shows, in words. */
  readonly window: string;
}

const width = 240;
const height = 22;

/** Held resources as an area, waiting requests as a line. A gap is a time without samples. */
export const SparkLine = memo(function SparkLine(props: Props) {
  const { held, waiting, total, span, window } = props;
  if (held.length === 0) return <span className="spark" />;
  const waitingMax = Math.max(0, ...waiting);
  // One scale for both, so that one waiting request is not as high as a hundred.
  const top = Math.max(1, total, waitingMax, ...held);
  const xOf = (index: number, length: number) =>
    (((span - length + index) / Math.max(1, span - 1)) * width).toFixed(1);
  const line = (values: readonly number[]) => {
    const drawn = values.length === 1 ? [...values, ...values] : values;
    const y = (value: number) => height - 1 - (value / top) * (height - 2);
    return drawn.map((value, at) => `${xOf(at, drawn.length)},${y(value).toFixed(1)}`).join(" ");
  };
  const area = line(held);
  const first = area.split(",", 1)[0];
  const words = `${window}: ${held[0]} held at first, ${held.at(-1)} at last, at most ${waitingMax} waiting`;
  return (
    <svg className="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
      <title>{words}</title>
      <polygon className="spark-held" points={`${first},${height} ${area} ${width},${height}`} />
      <polyline className="spark-top" points={area} />
      {waitingMax > 0 ? <polyline className="spark-waiting" points={line(waiting)} /> : null}
    </svg>
  );
});
