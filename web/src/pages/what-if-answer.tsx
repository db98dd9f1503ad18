import type { SimulatedVariants, StatsPart } from "../../../src/api/history-schemas.ts";
import { grouped } from "../parts/numbers.ts";
import { exact } from "../parts/times.tsx";
import { type CurvePoint, WaitCurves } from "./wait-curves.tsx";
import { numberOf, type WhatIfQuestion } from "./what-if-facts.ts";
import {
  type AnswerRow,
  answerWords,
  changeBetween,
  distrust,
  inUse,
  type Measure,
  waits,
} from "./what-if-words.ts";

interface Props {
  readonly name: string;
  readonly question: WhatIfQuestion;
  readonly values: readonly string[];
  readonly space: string;
  readonly found: SimulatedVariants;
}

export function WhatIfAnswer({ name, question, values, space, found }: Props) {
  const [present, ...others] = found.variants;
  const base = present?.simulation.pools.find(({ pool }) => pool === name);
  if (present === undefined || base === undefined) {
    return <p className="calm">There were no requests in that time.</p>;
  }
  const rows = values.flatMap((value, index): AnswerRow[] => {
    const part = others[index]?.simulation.pools.find(({ pool }) => pool === name)?.simulated;
    const isToday = value === question.today;
    return part === undefined ? [] : [{ label: value, part, isToday }];
  });
  const { requests, from, to, unknowns } = present.simulation;
  const whose = question.topic === "weight" ? ` of ${space}` : "";
  return (
    <>
      <p className="answer">{answerWords(rows)}</p>
      <Curves question={question} rows={rows} whose={whose} />
      <table className="compare">
        <caption>
          {grouped(requests)} requests from {exact(from)} to {exact(to)}, replayed. The columns say
          how long they waited; differences are to the pool as it is.{" "}
          {distrust(base.recorded, base.simulated)}
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
          {rows.some(({ isToday }) => isToday) ? null : (
            <ResultRow label="as it is, replayed" part={base.simulated} base={undefined} />
          )}
          {rows.map(({ label, part, isToday }) => (
            <ResultRow key={label} {...{ label, part, isToday }} base={base.simulated} />
          ))}
        </tbody>
      </table>
      <p className="calm after-table">
        <a href={location.href}>Link to this answer</a>: it replays the same time again.
      </p>
      <Limits name={name} unknowns={unknowns} />
    </>
  );
}

const titles = {
  size: "Size",
  limit: "Limit",
  pace: "One every",
  placement: "Strategy",
  weight: "Weight",
} as const;

function Curves({
  question,
  rows,
  whose,
}: Pick<Props, "question"> & { rows: readonly AnswerRow[]; whose: string }) {
  const points = rows.map(({ label, part: { waitSeconds } }): CurvePoint => {
    const { p50 = null, p90 = null, p99 = null } = waitSeconds ?? {};
    return { value: label, x: numberOf(label), p50, p90, p99 };
  });
  if (!question.numeric || points.length < 2) return null;
  const todayX = question.today === undefined ? undefined : numberOf(question.today);
  const title = `Waits${whose} by ${titles[question.topic].toLowerCase()}`;
  return <WaitCurves title={title} points={points} todayX={todayX} />;
}

interface Column extends Measure {
  readonly label: string;
  readonly read: (part: StatsPart) => number | null;
}

function columns(part: StatsPart): Column[] {
  const wait = (key: "p50" | "p90" | "p99", label: string): Column => ({
    ...{ label, ...waits },
    read: ({ waitSeconds }) => waitSeconds?.[key] ?? null,
  });
  return [
    wait("p50", "Half within"),
    wait("p90", "9 in 10"),
    wait("p99", "99 in 100"),
    {
      ...{ label: "In use", ...inUse },
      read: ({ utilisation }) => utilisation,
    },
    ...part.dimensions.map(({ name }) => ({
      label: `${name} in use`,
      read: ({ dimensions }: StatsPart) =>
        dimensions.find((one) => one.name === name)?.utilisation ?? null,
      ...inUse,
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
  const { isLess, text } = changeBetween(before, now, column);
  if (text === "") return <small className="change">=</small>;
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
