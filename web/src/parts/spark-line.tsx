import { memo } from "react";

interface Props {
  readonly held: readonly number[];
  readonly waiting: readonly number[];
  readonly total: number;
}

const width = 120;
const height = 22;
/** The number of samples in half an hour. With fewer samples the line starts later. */
const samplesMax = 90;

/** The last half hour: held resources as an area, waiting requests as a line. */
export const SparkLine = memo(function SparkLine({ held, waiting, total }: Props) {
  if (held.length === 0) return <span className="spark" />;
  const heldTop = Math.max(1, total, ...held);
  const waitingTop = Math.max(1, ...waiting);
  const area = points(drawn(held), heldTop);
  const words = `last half hour: held ${held[0]} to ${held.at(-1)}, at most ${Math.max(...waiting)} waiting`;
  return (
    <svg className="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
      <title>{words}</title>
      <polygon
        className="spark-held"
        points={`${firstX(drawn(held))},${height} ${area} ${width},${height}`}
      />
      <polyline className="spark-top" points={area} />
      {waiting.some((count) => count > 0) ? (
        <polyline className="spark-waiting" points={points(drawn(waiting), waitingTop)} />
      ) : null}
    </svg>
  );
});

/** A single sample is drawn as if it had been the same before. */
function drawn(values: readonly number[]): readonly number[] {
  return values.length === 1 ? [...values, ...values] : values;
}

function xOf(index: number, { length }: readonly number[]): string {
  const last = Math.max(samplesMax, length) - 1;
  return (((last - (length - 1) + index) / last) * width).toFixed(1);
}

const firstX = (values: readonly number[]) => xOf(0, values);

function points(values: readonly number[], top: number): string {
  const y = (value: number) => height - 1 - (value / top) * (height - 2);
  return values.map((value, index) => `${xOf(index, values)},${y(value).toFixed(1)}`).join(" ");
}
