import type { SimulatedVariants, StatsPart } from "../../../src/api/history-schemas.ts";
import { grouped, percentInUse } from "../parts/numbers.ts";
import { exact, inWords } from "../parts/times.tsx";
import { type CurvePoint, WaitCurves } from "./wait-curves.tsx";
import { numberOf, type WhatIfQuestion } from "./what-if-facts.ts";

interface Props {
  readonly name: string;
  readonly question: WhatIfQuestion;
  readonly values: readonly string[];
  readonly space: string;
  readonly found: SimulatedVariants;
}

interface Row {
  readonly label: string;
  readonly part: StatsPart;
  readonly isToday: boolean;
}

export function WhatIfAnswer({ name, question, values, space, found }: Props) {
  const [present, ...others] = found.variants;
  const base = present?.simulation.pools.find(({ pool }) => pool === name);
  if (present === undefined || base === undefined) {
    return <p className="calm">There were no requests in that time.</p>;
  }
  const rows = values.flatMap((value, index): Row[] => {
    const part = others[index]?.simulation.pools.find(({ pool }) => pool === name)?.simulated;
    const isToday = value === question.today;
    return part === undefined ? [] : [{ label: value, part, isToday }];
  });
  const { requests, from, to, unknowns } = present.simulation;
  const whose = question.topic === "weight" ? ` of ${space}` : "";
  return (
    <>
      <Curves question={question} rows={rows} whose={whose} />
      <table className="compare">
        <caption>
          {grouped(requests)} requests from {exact(from)} to {exact(to)}, replayed. Differences are
          to the pool as it is.
        </caption>
        <thead>
          <tr>
            <th scope="col">{titles[question.topic]}</th>
            {columns(base.simulated).map(({ label }) => (
              <th key={label} scope="col" className="number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <ResultRow label="recorded" part={base.recorded} base={undefined} />
          <ResultRow label="as it is, replayed" part={base.simulated} base={undefined} />
          {rows.map(({ label, part, isToday }) => (
            <ResultRow key={label} {...{ label, part, isToday }} base={base.simulated} />
          ))}
        </tbody>
      </table>
      <p className="calm">
        <a href={location.href}>Link to this answer</a>: it replays the same time again.
      </p>
      <Limits name={name} unknowns={unknowns} />
    </>
  );
}

const titles = {
  size: "Resources",
  limit: "Limit",
  pace: "One grant every",
  placement: "Strategy",
  weight: "Weight",
} as const;

function Curves({
  question,
  rows,
  whose,
}: Pick<Props, "question"> & { rows: Row[]; whose: string }) {
  const points = rows.map(({ label, part: { waitSeconds } }): CurvePoint => {
    const { p50 = null, p90 = null, p99 = null } = waitSeconds ?? {};
    return { value: label, x: numberOf(label), p50, p90, p99 };
  });
  if (!question.numeric || points.length < 2) return null;
  const todayX = question.today === undefined ? undefined : numberOf(question.today);
  const title = `Waits${whose} by ${titles[question.topic].toLowerCase()}`;
  return <WaitCurves title={title} points={points} todayX={todayX} />;
}

interface Column {
  readonly label: string;
  readonly read: (part: StatsPart) => number | null;
  readonly show: (value: number) => string;
  /** Whether more is worse. */
  readonly lessIsBetter?: boolean;
}

function columns(part: StatsPart): Column[] {
  const wait = (key: "p50" | "p90" | "p99", label: string): Column => ({
    ...{ label, lessIsBetter: true, show: inWords },
    read: ({ waitSeconds }) => waitSeconds?.[key] ?? null,
  });
  return [
    wait("p50", "50 % waited at most"),
    wait("p90", "90 %"),
    wait("p99", "99 %"),
    { label: "In use", read: ({ utilisation }) => utilisation, show: percentInUse },
    ...part.dimensions.map(({ name }) => ({
      label: `${name} in use`,
      read: ({ dimensions }: StatsPart) =>
        dimensions.find((one) => one.name === name)?.utilisation ?? null,
      show: percentInUse,
    })),
  ];
}

interface ResultProps {
  readonly label: string;
  readonly part: StatsPart;
  readonly isToday?: boolean;
  /** What it is compared with. */
  readonly base: StatsPart | undefined;
}

function ResultRow({ label, part, isToday = false, base }: ResultProps) {
  return (
    <tr className={isToday ? "today" : undefined}>
      <th scope="row">
        {label} {isToday ? <small className="chip">today</small> : null}
      </th>
      {columns(part).map((column) => (
        <td key={column.label} className="number">
          {shown(column, part)}
          {base === undefined || isToday ? null : <Difference {...{ column, part, base }} />}
        </td>
      ))}
    </tr>
  );
}

function shown({ read, show }: Column, part: StatsPart): string {
  const value = read(part);
  return value === null ? "–" : show(value);
}

/** `↓ 2m`: the arrow says the direction, its colour whether that is better. */
function Difference(props: { column: Column; part: StatsPart; base: StatsPart }) {
  const { column, part, base } = props;
  const [now, before] = [column.read(part), column.read(base)];
  if (now === null || before === null) return null;
  const change = now - before;
  const text = column.show(Math.abs(change));
  if (text === column.show(0)) return <small className="change">=</small>;
  const isLess = change < 0;
  const look = column.lessIsBetter === undefined ? "" : isLess ? "better" : "worse";
  return (
    <small className={`change ${look}`}>
      <span aria-hidden="true">{isLess ? "↓" : "↑"}</span>
      <span className="hidden">{isLess ? "less by" : "more by"}</span> {text}
    </small>
  );
}

/** What concerns this pool is said at once; what holds for every replay, on demand. */
function Limits({ name, unknowns }: { name: string; unknowns: readonly string[] }) {
  const own = unknowns.filter((text) => text.startsWith(`Pool ${name} `));
  return (
    <>
      {own.map((text) => (
        <p key={text} className="calm">
          {text}
        </p>
      ))}
      <details>
        <summary>Limits of this simulation</summary>
        <ul className="plain-list">
          {unknowns.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </details>
    </>
  );
}
